import { quotedEtag } from '../containers/container-files.ts'
import { ServiceError } from '../errors.ts'
import type { Preconditions } from '../promotion/preconditions.ts'
import { headerValue, headerValues, type RequestHeaders } from './request-headers.ts'

const MOST_WAIT_SECONDS = 20
/** RFC 9110 §8.8.3; and, without quotes, what many programs make of it. */
const ENTITY_TAG = /(?:W\/)?"[!#-~\x80-\xff]*"|[!#-)+\--~]+/g
const QUOTED_STRING = /"((?:[^"\\]|\\.)*)"/g

/** @throws ServiceError invalid_precondition */
export function readPreconditions(event: RequestHeaders): Preconditions {
  const [size, sha256] = [onlyValue(event, 'File-Bytes'), onlyValue(event, 'File-Sha256')]
  if (size !== undefined && !/^\d{1,15}$/.test(size)) refuse('File-Bytes', 'a number of bytes in decimal digits')
  if (sha256 !== undefined && !/^[\da-f]{64}$/i.test(sha256)) refuse('File-Sha256', '64 hexadecimal digits')
  return {
    etags: readEntityTags(event),
    sizeBytes: size === undefined ? undefined : Number(size),
    sha256: sha256?.toLowerCase(),
    waitMs: readWaitMs(event),
  }
}

/** If-Match (RFC 9110 §13.1.1). @returns undefined also for `*`: any file */
function readEntityTags(event: RequestHeaders): string[] | undefined {
  const value = onlyValue(event, 'If-Match')
  if (value === undefined || value === '*') return undefined
  const tags: string[] = []
  // The rest has to be the tags' places in a list.
  const list = value.replace(ENTITY_TAG, (tag) => {
    tags.push(quotedEtag(tag))
    return 'x'
  })
  const isList = list.split(',').every((place) => ['', 'x'].includes(place.trim()))
  return isList && tags.length > 0 ? tags : refuse('If-Match', 'one or more entity tags, or *')
}

/**
 * Prefer (RFC 7240): what cannot be understood is ignored, and of several the first one counts.
 * @returns undefined, or 0: not to wait
 */
export function readWaitMs(event: RequestHeaders): number | undefined {
  // A comma in a quoted string separates nothing.
  const value = headerValue(event, 'prefer')?.replace(QUOTED_STRING, (_, text: string) =>
    /^\d+$/.test(text) ? text : '-',
  )
  const waits = value?.split(',').flatMap((each) => /^\s*wait\s*(?:=([^;]*))?(?:;|$)/i.exec(each) ?? [])
  const seconds = waits?.[1]?.trim() ?? ''
  return /^\d+$/.test(seconds) ? Math.min(Number(seconds), MOST_WAIT_SECONDS) * 1000 : undefined
}

/** A proxy may have sent the same value twice. */
function onlyValue(event: RequestHeaders, name: string): string | undefined {
  const [value, ...others] = new Set(headerValues(event, name.toLowerCase()).map((each) => each.trim()))
  return others.length > 0 ? refuse(name, 'sent with one value only') : value
}

function refuse(name: string, what: string): never {
  throw new ServiceError('invalid_precondition', { detail: `The ${name} header must be ${what}.` })
}
