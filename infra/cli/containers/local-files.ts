import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { access, lstat, readdir } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { MAX_OBJECT_KEY_BYTES, problemInPath } from '../../../lib/ids.ts'
import { CommandError } from '../command-error.ts'
import { exactBytes } from '../terminal/output.ts'

/** `file` is where it is on this machine, `path` where it goes in the container. */
export type LocalFile = { file: string; path: string; sizeBytes: number }

/** Files, and those in directories, with paths as `cp -r` gives them. @throws for the first that cannot be read */
export async function findLocalFiles(names: readonly string[], note: (line: string) => void): Promise<LocalFile[]> {
  const found = new Map<string, LocalFile>()
  async function visit(file: string, path: string): Promise<void> {
    const stats = await lstat(file)
    if (stats.isFile()) {
      await access(file, constants.R_OK)
      const other = found.get(path)?.file ?? file
      if (other !== file) throw unusable(file, `is also that of ${other}`)
      found.set(path, { file, path, sizeBytes: stats.size })
    } else if (stats.isDirectory()) {
      for (const entry of (await readdir(file, { encoding: 'buffer' })).toSorted(Buffer.compare)) {
        if (!isUtf8(entry)) throw unusable(join(file, `${entry}`), 'is not valid UTF-8')
        await visit(join(file, `${entry}`), posix.join(path, `${entry}`))
      }
    } else note(`${file} is left out: it is ${stats.isSymbolicLink() ? 'a symbolic link' : 'no regular file'}.`)
  }
  for (const name of names) {
    await visit(name, basename(name).replace(/^\.\.?$/, '')).catch((error) => {
      throw error.errno === undefined ? error : unreadable(error)
    })
  }
  return [...found.values()]
}

/** @throws CommandError for one that could not be stored under its path, or not be promoted */
export function requireUsable({ file, path, sizeBytes }: LocalFile, prefix: string, maxFileBytes: number): void {
  const keyBytes = Buffer.byteLength(prefix + path)
  const tooLong = `makes a key of ${keyBytes} bytes, and S3 allows ${MAX_OBJECT_KEY_BYTES}`
  const problem = problemInPath(path) ?? (keyBytes > MAX_OBJECT_KEY_BYTES ? tooLong : undefined)
  if (problem) throw unusable(file, problem)
  if (sizeBytes <= maxFileBytes) return
  const limit = `only files of up to ${exactBytes(maxFileBytes)} can be promoted (maxFileBytes)`
  throw new CommandError('file_too_large', `${file} has ${exactBytes(sizeBytes)}: ${limit}.`, { exitCode: 2 })
}

const unusable = (file: string, problem: string) =>
  new CommandError('unusable_path', `${JSON.stringify(file)}: its path in the container ${problem}.`, { exitCode: 2 })

const unreadable = ({ errno = 0, path }: NodeJS.ErrnoException) =>
  new CommandError('unreadable_file', `${path} cannot be read: ${getSystemErrorMessage(errno)}.`, { exitCode: 2 })
