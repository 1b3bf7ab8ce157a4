const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** S3's bounds: qfacts, "Amazon S3 multipart upload limits". */
export const S3_MIN_PART_BYTES = 5 * MIB
const S3_MAX_PART_BYTES = 5 * GIB
const S3_MAX_PARTS = 10_000
/** Parts copied at the same time, hence connections in use. */
export const MAX_PARALLEL_PARTS = 64

export interface CopySettings {
  /** Files larger than this are copied in parts. At most 5 GiB, what CopyObject can do at all. */
  multipartThresholdBytes: number
  /** Smallest part; larger files get larger parts. At least 5 MiB. */
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
 * large the part, so time is bought with parts: as many as run at once, as small as S3 and the request overhead allow
 * (docs/decisions/0004-server-side-copy.md).
 */
export function planParts(
  sizeBytes: number,
  settings: CopySettings,
): { partBytes: number; partCount: number } | undefined {
  if (sizeBytes <= settings.multipartThresholdBytes) return undefined
  const wholeMib = (bytes: number) => Math.ceil(bytes / MIB) * MIB
  const partBytes = Math.max(
    settings.minPartBytes,
    Math.min(wholeMib(sizeBytes / MAX_PARALLEL_PARTS), 128 * MIB),
    wholeMib(sizeBytes / S3_MAX_PARTS),
  )
  if (partBytes > S3_MAX_PART_BYTES) throw new RangeError(`an object of ${sizeBytes} bytes is more than S3 can hold`)
  return { partBytes, partCount: Math.ceil(sizeBytes / partBytes) }
}

/** Byte range of one part, counted from 1. */
export function partRange(partNumber: number, partBytes: number, sizeBytes: number): PartRange {
  const firstByte = (partNumber - 1) * partBytes
  return { partNumber, firstByte, lastByte: Math.min(firstByte + partBytes, sizeBytes) - 1 }
}
