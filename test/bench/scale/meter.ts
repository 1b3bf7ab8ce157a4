export interface Spent {
  readUnits: number
  writeUnits: number
  /** Listings, which S3 bills as it bills writes. */
  s3Lists: number
  s3Reads: number
  /** Time of the functions, times the memory they have. */
  gibSeconds: number
  invocations: number
}

export interface Meter {
  spent: Readonly<Spent>
  add(part: Partial<Spent>): void
}

export function createMeter(): Meter {
  const spent: Spent = { readUnits: 0, writeUnits: 0, s3Lists: 0, s3Reads: 0, gibSeconds: 0, invocations: 0 }
  return {
    spent,
    add(part) {
      for (const [name, value] of Object.entries(part)) spent[name as keyof Spent] += value
    },
  }
}
