import { relative } from 'node:path'

interface FileError extends NodeJS.ErrnoException {
  path?: string
}

/** Why the service did not start: in one line for what can be helped, else as it was thrown. */
export function describeStartFailure(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const error = rootOf(thrown)
  // LevelDB tells the system's error in words only.
  const text = `${error.code ?? ''} ${error.message}`
  const place = placeOf(error)
  if (/ENOSPC|EDQUOT|No space left on device|quota exceeded/i.test(text)) {
    return `The disk is full${place}: make room, or choose another place with --directory.`
  }
  if (/EROFS|EACCES|EPERM|Read-only file system|Permission denied/i.test(text)) {
    return `This must be writable, and is not${place}. The service builds into dist/ and keeps its data in .local/ (--directory).`
  }
  if (/ENOTDIR|EEXIST/.test(error.code ?? '')) return `There is a file where a directory is needed${place}.`
  if (/EMFILE|ENFILE/.test(error.code ?? '')) {
    return 'Too many files are open on this machine: raise the limit (ulimit -n).'
  }
  return thrown.message
}

function rootOf(error: FileError): FileError {
  return error.code === undefined && error.cause instanceof Error ? rootOf(error.cause) : error
}

function placeOf({ path, message }: FileError): string {
  const place = path ?? /IO error: (\S.*?): /.exec(message)?.[1]
  if (place === undefined) return ''
  const short = relative(process.cwd(), place)
  return ` (${short.startsWith('..') || short === '' ? place : short})`
}
