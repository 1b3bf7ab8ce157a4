export interface ThroughputLimits {
  /** DynamoDB's limit of a partition, and of one item even when the partition is its own (developer guide). */
  writeUnitsPerSecond: number
  readUnitsPerSecond: number
}

export const DYNAMODB_LIMITS: ThroughputLimits = { writeUnitsPerSecond: 1000, readUnitsPerSecond: 3000 }
/** More than any test needs. */
export const UNLIMITED: ThroughputLimits = { writeUnitsPerSecond: 1e9, readUnitsPerSecond: 1e9 }

type Kind = 'read' | 'write'
interface Bucket {
  units: number
  atMs: number
}

/** Token buckets, one for each item and kind; all start full. @param now in ms, of any clock that does not go back */
export function createThroughput(limits: ThroughputLimits, now: () => number) {
  const perSecond = { read: limits.readUnitsPerSecond, write: limits.writeUnitsPerSecond }
  const buckets = { read: new Map<string, Bucket>(), write: new Map<string, Bucket>() }

  const bucketOf = (kind: Kind, name: string): Bucket => {
    const nowMs = now()
    // A second of unused throughput is kept for a burst. AWS keeps "up to 300 s" where it can, which is no promise.
    const fullUnits = perSecond[kind]
    const bucket = buckets[kind].get(name) ?? { units: fullUnits, atMs: nowMs }
    const gained = ((nowMs - bucket.atMs) / 1000) * perSecond[kind]
    bucket.units = Math.min(fullUnits, bucket.units + gained)
    bucket.atMs = nowMs
    buckets[kind].set(name, bucket)
    return bucket
  }

  return {
    /** Whether the units are there, without taking them. */
    has: (kind: Kind, name: string, units: number) => bucketOf(kind, name).units >= units,
    /** Takes the units out of the named bucket if they are all there. */
    take(kind: Kind, name: string, units: number): boolean {
      const bucket = bucketOf(kind, name)
      if (bucket.units < units) return false
      bucket.units -= units
      return true
    },
  }
}
