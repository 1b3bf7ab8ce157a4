import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ScenarioId, Within } from './scenarios.ts'

/** What is replaced, and by what; of another file if there are three. */
export type Change = readonly [search: string, by: string] | readonly [file: string, search: string, by: string]

/** The scenario whose exploration finds it, and within which bounds; the file, and what is changed there. */
export type PlantedBug = readonly [scenario: ScenarioId, within: Within, file: string, ...changes: Change[]]

/** By what is wrong. */
export type PlantedBugs = Readonly<Record<string, PlantedBug>>

const ROOT = join(import.meta.dirname, '../../..')
const OURS = /\/(lib|test\/support\/fakes|test\/protocol)\/[^?]*\.ts$/

/**
 * Loads the explorer once more, with a copy of all that it explores, in which some text is replaced.
 * @param bug names the copy
 */
export async function plant(bug: string, file: string, changes: readonly Change[]) {
  const full = changes.map((change) => (change.length === 3 ? change : ([file, ...change] as const)))
  const query = `?bug=${encodeURIComponent(bug)}`
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      return context.parentURL?.endsWith(query) && OURS.test(found.url) ? { ...found, url: found.url + query } : found
    },
    load(url, context, next) {
      if (!url.endsWith(query)) return next(url, context)
      const path = fileURLToPath(url)
      const own = full.filter(([file]) => path === join(ROOT, file))
      return {
        format: 'module-typescript',
        source: own.reduce(replace, readFileSync(path, 'utf8')),
        shortCircuit: true,
      }
    },
  })
  try {
    return (await import(
      pathToFileURL(join(import.meta.dirname, 'explore.ts')) + query
    )) as typeof import('./explore.ts')
  } finally {
    hooks.deregister()
  }
}

function replace(text: string, [file, search, by]: readonly [string, string, string]): string {
  const parts = text.split(search)
  if (parts.length !== 2) throw new Error(`${file} has this ${parts.length - 1} times: ${search}`)
  return parts.join(by)
}
