const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html, "Amazon S3 multipart upload limits". */
const S3_MIN_PART_BYTES = 5 * MIB
const S3_MAX_PART_BYTES = 5 * GIB
const S3_MAX_PARTS = 10_000
/** Parts copied at the same time, hence connections in use. */
export const MAX_PARALLEL_PARTS = 64
const PART_SCALE_BYTES = 4 * MIB
/** A larger part takes too long to copy again. Only files too large for one round of parts have larger ones. */
const LONGEST_BALANCED_PART_BYTES = 128 * MIB

export interface CopySettings {
  /** Larger files are copied in parts, of at least half as much. At most 5 GiB, the limit of CopyObject. */
  multipartThresholdBytes: number
}

/** All parts have the same size; only the last may be smaller. */
export type PartPlan = { partBytes: number; partCount: number }

/** As docs/decisions/0004-server-side-copy.md derives it. @returns undefined when one CopyObject is better */
export function planParts(sizeBytes: number, { multipartThresholdBytes }: CopySettings): PartPlan | undefined {
  if (sizeBytes <= multipartThresholdBytes) return undefined
  const balanced = Math.min(Math.sqrt(sizeBytes * PART_SCALE_BYTES), LONGEST_BALANCED_PART_BYTES, sizeBytes / 2)
  // More parts than run at once would need a second round and save no time.
  const smallest = Math.max(S3_MIN_PART_BYTES, multipartThresholdBytes / 2, balanced, sizeBytes / MAX_PARALLEL_PARTS)
  const partCount = Math.max(Math.floor(sizeBytes / smallest), Math.ceil(sizeBytes / S3_MAX_PART_BYTES))
  if (partCount > S3_MAX_PARTS) throw new RangeError(`an object of ${sizeBytes} bytes is more than S3 can hold`)
  return partCount > 1 ? { partBytes: Math.ceil(sizeBytes / partCount), partCount } : undefined
}

/** Both bytes belong to it, as in the range header. @param partNumber counted from 1 */
export function partRange(partNumber: number, partBytes: number, sizeBytes: number) {
  const firstByte = (partNumber - 1) * partBytes
  return { firstByte, lastByte: Math.min(firstByte + partBytes, sizeBytes) - 1 }
}
