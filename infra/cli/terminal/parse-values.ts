import bytes from 'bytes-iec'
import ms from 'ms'
import { isLabel } from '../../../lib/administration/save-workspace.ts'
import { isKeyName, isUserId, PERMISSIONS, type Permission } from '../../../lib/auth/caller.ts'
import { isLinkId } from '../../../lib/auth/link-token.ts'
import { MOST_REQUESTS_PER_MINUTE } from '../../../lib/config.ts'
import { type ContainerId, type DocumentId, isWorkspaceId, type WorkspaceId } from '../../../lib/ids.ts'
import { HUNDRED_YEARS_MS, parseMoment as toMoment } from '../../../lib/moment.ts'
import { wrongUsage } from '../command-error.ts'

/** After a capital, a small b means bits. */
const BITS = /[KMGTPE]i?b$/
/** A number with its unit: the library would take a bare number for milliseconds. */
const DURATION = /^\d{1,9}(\.\d{1,3})? ?[a-z]+$/i
/** In UTC. */
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Bytes: `10GiB`, `500MB`, `1.5TiB` or a plain number. Anything but a whole number of bytes is refused. */
export function parseSize(text: string): number {
  if (!/^\d/.test(text) || BITS.test(text) || bytes.parse(text) === null)
    refuse(`"${text}" is not a size: write bytes, or a number with KB, MB, GB, TB, PB, KiB, … PiB`)
  // The library multiplies floating-point numbers and rounds: 1.005KB would be 1004 bytes. Whole numbers are exact.
  const scaled = bytes.parse(text.replace('.', '')) ?? Number.NaN
  const decimals = /\.(\d+)/.exec(text)?.[1]?.length ?? 0
  if (!Number.isSafeInteger(scaled)) refuse(`"${text}" is more than can be counted exactly`)
  const sizeBytes = scaled / 10 ** decimals
  if (!Number.isInteger(sizeBytes)) refuse(`"${text}" is not a whole number of bytes`)
  return sizeBytes
}

/** Milliseconds: `30s`, `15m`, `24h`, `90d`, `1.5h`, `2 weeks`, `0`. */
export function parseDuration(text: string): number {
  if (text === '0') return 0
  const durationMs = DURATION.test(text) ? ms(text as ms.StringValue) : undefined
  if (durationMs === undefined) refuse(`"${text}" is not a duration: write for example 30s, 15m, 24h or 90d`)
  if (durationMs > HUNDRED_YEARS_MS) refuse(`"${text}" is more than a hundred years`)
  return durationMs
}

/** Takes a duration within limits, for whole seconds. */
export function secondsBetween(shortest: string, longest: string) {
  return (text: string): number => {
    const durationMs = parseDuration(text)
    const isWithin = durationMs >= parseDuration(shortest) && durationMs <= parseDuration(longest)
    if (isWithin && durationMs % 1000 === 0) return durationMs / 1000
    refuse(`"${text}" is not possible: from ${shortest} to ${longest}, in whole seconds`)
  }
}

const LONGEST_RETENTION = '3650d'
/** How long a document is kept, in seconds from now. */
export const parseExpiresIn = secondsBetween('1s', LONGEST_RETENTION)
/** How long a workspace keeps them: less than an hour is more likely a typing error. */
export const parseRetention = secondsBetween('1h', LONGEST_RETENTION)

/** ms since 1970. */
export function parseMoment(text: string): number {
  const moment = toMoment(DAY.test(text) ? `${text}T00:00Z` : text)
  if (moment === undefined)
    refuse(`"${text}" is not a time: write for example 2027-01-31T00:00Z (with its time zone) or 2027-01-31 (UTC)`)
  return moment
}

/** When a key expires, in ms since 1970: a moment to come, or a duration from now. */
export function parseExpiry(text: string): number {
  if (DURATION.test(text)) return Date.now() + parseDuration(text)
  const moment = parseMoment(text)
  if (moment <= Date.now()) refuse(`"${text}" is past`)
  if (moment > Date.now() + HUNDRED_YEARS_MS) refuse(`"${text}" is more than a hundred years ahead`)
  return moment
}

const OF_PLAIN_ID = '1 to 128 of A-Z, a-z, 0-9, "_" and "-"'
export const parseWorkspaceId = only<WorkspaceId>(isWorkspaceId, `a workspace id: ${OF_PLAIN_ID}`)
export const parseContainerId = only<ContainerId>(isWorkspaceId, `a container id: ${OF_PLAIN_ID}`)
const isDocumentId = (text: string) => /^file_[A-Za-z0-9]{1,64}$/.test(text)
export const parseDocumentId = only<DocumentId>(isDocumentId, 'a document id, such as file_7ZkSLbFrmy')
export const parseLinkId = only(isLinkId, 'a link id, such as link_0fYq3Xo2BdK')
export const parseKeyName = only(isKeyName, 'a name of a key: 1 to 64 of A-Z, a-z, 0-9, "_" and "-"')
export const parseUserId = only(isUserId, 'a user id: 1 to 128 visible ASCII characters')
export const parseStage = only((text) => /^[A-Za-z0-9-]{1,30}$/.test(text), 'the name of a stage')
const isPermission = (text: string) => PERMISSIONS.some((known) => known === text)
const OF_PERMISSION = `a permission: there is ${PERMISSIONS.join(', ')}`
const parseListed = listOf(only<Permission>(isPermission, OF_PERMISSION))
/** None is an empty list, which a standard key is refused. */
export const parsePermissions = (text: string, others?: Permission[]) =>
  text === 'none' ? [] : parseListed(text, others)
const isKeyId = (text: string) => /^key_[A-Za-z0-9_-]{1,160}$/.test(text)
const parseAnyKeyId = only(isKeyId, 'a key id, such as key_0XKzWvX1dQ9Cd3BBZ4oiSQ1LRtDC')

export function parseKeyId(text: string): string {
  if (/^cfp_/.test(text))
    refuse('this is a token, not a key id: key ids start with "key_"; keep tokens out of command lines')
  return parseAnyKeyId(text)
}

export const parseYes = (text: string) => only((word) => word === 'yes', 'yes or no')(text) === 'yes'
export const parseLabel = only(isLabel, 'a label: 1 to 128 characters in one line')
const isLimit = (text: string) => /^[1-9]\d{0,8}$/.test(text) && Number(text) <= MOST_REQUESTS_PER_MINUTE
const parseLimit = only(isLimit, `a number of requests: 1 to ${MOST_REQUESTS_PER_MINUTE}`)
export const parseRequestsPerMinute = (text: string) => Number(parseLimit(text))

function only<Value extends string = string>(isAllowed: (text: string) => boolean, what: string) {
  return (text: string) => (isAllowed(text) ? (text as Value) : refuse(`"${text}" is not ${what}`))
}

/** One value, or several with commas between them, after those of earlier arguments; each once. */
export function listOf<Value>(parse: (text: string) => Value) {
  return (text: string, others: Value[] = []) => [...new Set([...others, ...text.split(',').map(parse)])]
}

/** Throws our own error, because the library's would be reported in the library's words. */
export function refuse(why: string): never {
  throw wrongUsage(why)
}
