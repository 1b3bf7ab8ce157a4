import { ServiceError } from '../errors.ts'
import { MAX_OBJECT_KEY_BYTES } from '../ids.ts'

const KEY_CURSOR_PREFIX = 'cursor_'

/** A position after an object that no file id can name. */
export function formatKeyCursor(keyPrefix: string, objectKey: string): string {
  return KEY_CURSOR_PREFIX + Buffer.from(objectKey.slice(keyPrefix.length)).toString('base64url')
}

/** @returns undefined when the text is no such cursor. @throws ServiceError invalid_cursor */
export function parseKeyCursor(keyPrefix: string, cursor: string): string | undefined {
  if (!cursor.startsWith(KEY_CURSOR_PREFIX)) return undefined
  const objectKey = keyPrefix + Buffer.from(cursor.slice(KEY_CURSOR_PREFIX.length), 'base64url')
  const isSound = formatKeyCursor(keyPrefix, objectKey) === cursor
  if (!isSound || Buffer.byteLength(objectKey) > MAX_OBJECT_KEY_BYTES) throw new ServiceError('invalid_cursor')
  return objectKey
}
