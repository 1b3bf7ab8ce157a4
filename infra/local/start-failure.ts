import { statfsSync } from 'node:fs'
import { relative } from 'node:path'

interface FileError extends NodeJS.ErrnoException {
  path?: string
}

/** The stores need at least this much. */
const LITTLE_ROOM_BYTES = 1024 * 1024

/** One line if users can fix it, else as thrown. @param directory checked too: not every error mentions a full disk */
export function describeFailure(thrown: unknown, directory?: string): string {
  const { message } = thrown instanceof Error ? thrown : new Error(String(thrown))
  const error = rootOf(thrown)
  // LevelDB wraps system errors in text, and the SDK wraps what a stand-in says.
  const text = [error.code, error.message, message].join(' ')
  const place = inBrackets(error.path ?? /IO error: (\S.*?): /.exec(text)?.[1])
  if (/ENOSPC|EDQUOT|No space left on device|quota exceeded/i.test(text)) return diskIsFull(place)
  // mkdir creates all parents, and reports the one that it may not create.
  const isUnmakeable = error.code === 'ENOENT' && error.syscall === 'mkdir'
  if (isUnmakeable || /EROFS|EACCES|EPERM|Read-only file system|Permission denied/i.test(text)) {
    return `This must be writable, but is not${place}. The service builds into dist/ and keeps its data in .local/ (--directory).`
  }
  if (/ENOTDIR|EEXIST/.test(error.code ?? '')) return `There is a file where a directory is needed${place}.`
  if (/EMFILE|ENFILE/.test(text)) {
    return 'Too many files are open on this machine: raise the limit (ulimit -n).'
  }
  if (directory !== undefined && hasLittleRoom(directory)) return diskIsFull(inBrackets(directory))
  return message
}

/** Called before anything is written, to avoid half a database. @throws Error when the disk is all but full */
export function requireRoom(directory: string): void {
  if (hasLittleRoom(directory)) throw Object.assign(new Error('No room.'), { code: 'ENOSPC', path: directory })
}

function diskIsFull(place: string): string {
  return `The disk is full${place}: make room, or choose another place with --directory.`
}

function hasLittleRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < LITTLE_ROOM_BYTES
  } catch {
    return false
  }
}

function rootOf(thrown: unknown): FileError {
  const error: FileError = thrown instanceof Error ? thrown : new Error(String(thrown))
  return error.code === undefined && error.cause instanceof Error ? rootOf(error.cause) : error
}

/** The place in brackets, as short as it can be. */
function inBrackets(place: string | undefined): string {
  if (place === undefined) return ''
  const short = relative(process.cwd(), place)
  return ` (${short.startsWith('..') || short === '' ? place : short})`
}
