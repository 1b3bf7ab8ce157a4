import { type FilePath, MAX_OBJECT_KEY_BYTES, problemInPath } from '../ids.ts'
import { MOST_FILES, type PromotionOfManyRequest } from '../promotion/promote-container-files.ts'
import { type Body, refuseBody } from './known-names.ts'

/** @throws ServiceError invalid_body, its detail naming the problem */
export function readFilesToPromote({ prefix, paths, after }: Body): Pick<PromotionOfManyRequest, 'files' | 'after'> {
  if (after !== undefined && typeof after !== 'string') refuseBody('after must be the next of an answer.')
  if (prefix === undefined && paths === undefined) refuseBody('It must have prefix or paths.')
  if (prefix !== undefined && paths !== undefined) refuseBody('It may have prefix or paths, not both.')
  if (paths !== undefined) return { files: { paths: readPaths(paths) }, after }
  // Before a slash at its end is the path of a folder.
  const problem = prefix === '' ? undefined : problemIn(typeof prefix === 'string' ? prefix.replace(/\/$/, '') : prefix)
  if (problem === undefined) return { files: { prefix: prefix as string }, after }
  return refuseBody(`prefix ${problem}.`)
}

function readPaths(paths: unknown): FilePath[] {
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MOST_FILES) {
    refuseBody(`paths must be an array of 1 to ${MOST_FILES} paths.`)
  }
  for (const [index, path] of paths.entries()) {
    const problem = problemIn(path) ?? (paths.indexOf(path) < index ? 'is there twice' : undefined)
    if (problem !== undefined) refuseBody(`paths[${index}] ${problem}.`)
  }
  return paths as FilePath[]
}

/** @returns the end of a sentence about a path or folder that no file id can name */
function problemIn(text: unknown): string | undefined {
  // JSON can escape halves of characters, which UTF-8 cannot encode.
  if (typeof text !== 'string' || !text.isWellFormed()) return 'must be a string of Unicode characters'
  return Buffer.byteLength(text) > MAX_OBJECT_KEY_BYTES ? 'is too long' : problemInPath(text)
}
