const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** S3's bounds: docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html, "Amazon S3 multipart upload limits". */
const S3_MAX_PART_BYTES = 5 * GIB
const S3_MAX_PARTS = 10_000
/** Parts copied at the same time, hence connections in use. */
export const MAX_PARALLEL_PARTS = 64
/** Trade-off between time and request cost, expressed as a size (docs/decisions/0011-copy-plan.md). */
const PART_SCALE_BYTES = 4 * MIB
/**
 * Above this, copying a failed part again would take too long. Only files too large for one round have larger parts.
 */
const LONGEST_BALANCED_PART_BYTES = 128 * MIB

export interface CopySettings {
  /** Larger files are copied in parts if they have at least two. At most 5 GiB, the limit of CopyObject. */
  multipartThresholdBytes: number
  /** Smallest part; larger files get larger parts. At least 5 MiB, which S3 demands. */
  minPartBytes: number
}

export interface PartRange {
  partNumber: number
  firstByte: number
  /** Inclusive, as in the range header. */
  lastByte: number
}

/**
 * The parts of a copy, or undefined when one CopyObject is the better way. One S3 stream runs at some 70 MiB/s however
 * large the part, so parts buy time; but each one is billed. Both together are least when the part size grows with the
 * square root of the file's: 64 MiB parts for 1 GiB. Below 256 MiB they are as small as the settings allow
 * (docs/decisions/0011-copy-plan.md). All parts are of one size, to the byte, but for the last one's rounding.
 */
export function planParts(
  sizeBytes: number,
  settings: CopySettings,
): { partBytes: number; partCount: number } | undefined {
  if (sizeBytes <= settings.multipartThresholdBytes) return undefined
  const balanced = Math.min(Math.sqrt(sizeBytes * PART_SCALE_BYTES), LONGEST_BALANCED_PART_BYTES, sizeBytes / 2)
  // More parts than run at once would need a second round and save no time.
  const smallest = Math.max(settings.minPartBytes, balanced, sizeBytes / MAX_PARALLEL_PARTS)
  const partCount = Math.max(Math.floor(sizeBytes / smallest), Math.ceil(sizeBytes / S3_MAX_PART_BYTES))
  if (partCount > S3_MAX_PARTS) throw new RangeError(`an object of ${sizeBytes} bytes is more than S3 can hold`)
  return partCount > 1 ? { partBytes: Math.ceil(sizeBytes / partCount), partCount } : undefined
}

/** Byte range of one part, counted from 1. */
export function partRange(partNumber: number, partBytes: number, sizeBytes: number): PartRange {
  const firstByte = (partNumber - 1) * partBytes
  return { partNumber, firstByte, lastByte: Math.min(firstByte + partBytes, sizeBytes) - 1 }
}
