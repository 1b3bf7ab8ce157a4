import { PRICES } from '../prices.ts'

/** What calls of DynamoDB and S3 came to. */
export interface Spent {
  dynamoDbCalls: number
  readUnits: number
  writeUnits: number
  /** Listings, which S3 bills as it bills writes. */
  s3Lists: number
  /** HEAD; a DELETE costs nothing. */
  s3Reads: number
  /** Calls that DynamoDB refused for want of throughput. */
  throttled: number
  /** Of functions, at the memory they have. */
  gibSeconds: number
  invocations: number
  /** Of Step Functions, standard. */
  transitions: number
}

export interface Meter {
  spent: Readonly<Spent>
  add(part: Partial<Spent>): void
}

export function createMeter(): Meter {
  const spent: Spent = {
    dynamoDbCalls: 0,
    readUnits: 0,
    writeUnits: 0,
    s3Lists: 0,
    s3Reads: 0,
    throttled: 0,
    gibSeconds: 0,
    invocations: 0,
    transitions: 0,
  }
  return {
    spent,
    add(part) {
      for (const [name, value] of Object.entries(part)) spent[name as keyof Spent] += value
    },
  }
}

/** Without logs. */
export function dollarsOf(spent: Readonly<Spent>): number {
  return (
    spent.readUnits * PRICES.dynamoDbReadUnit +
    spent.writeUnits * PRICES.dynamoDbWriteUnit +
    spent.s3Lists * PRICES.s3WriteRequest +
    spent.s3Reads * PRICES.s3ReadRequest +
    spent.gibSeconds * PRICES.lambdaGibSecond +
    spent.invocations * PRICES.lambdaRequest +
    spent.transitions * PRICES.stepFunctionsTransition
  )
}
