import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Fate } from './process.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

/** In this file of ours, what is replaced and by what. */
type Change = [file: string, search: string, by: string]

interface PlantedBug {
  name: string
  /** Whose exploration finds it, within its bounds and with its fates. */
  scenario: Scenario
  changes: Change[]
}

const ROOT = join(import.meta.dirname, '../../..')
const OURS = /\/(lib|test\/support\/fakes|test\/protocol)\/[^?]*\.ts$/

/**
 * Reads planted/*.diff: parts of lines, each of which its file has once. `@@ scenario switches faults times fates @@ name`; without
 * fates, all are tried. What is taken away ends where an empty line is added, if more is changed.
 */
export function readPlantedBugs(): PlantedBug[] {
  const bugs: PlantedBug[] = []
  let file = ''
  for (const path of globSync(join(import.meta.dirname, 'planted/*.diff')).toSorted()) {
    const blocks = readFileSync(path, 'utf8').matchAll(
      /^\+\+\+ (.+)\n|^@@ (.+) @@ (.+)\n|((?:^-.*\n)+)((?:^\+(?!\+\+ ).*\n)*)/gm,
    )
    for (const [, to, where = '', name, taken = '', added = ''] of blocks) {
      if (to) file = to
      else if (name) bugs.push({ name, scenario: scenarioOf(where), changes: [] })
      else bugs.at(-1)?.changes.push([file, textOf(taken), textOf(added)])
    }
  }
  return bugs
}

const textOf = (lines: string) => lines.replace(/^[-+]/gm, '').replace(/\n$/, '')

function scenarioOf(where: string): Scenario {
  const [id, switches, faults, times, ...fates] = where.split(' ')
  const bounds = { switches: Number(switches), faults: Number(faults), times: Number(times) }
  return { ...SCENARIOS[id as keyof typeof SCENARIOS], bounds, ...(fates.length > 0 && { fates: fates as Fate[] }) }
}

/** Loads the explorer once more, with a copy of all that it explores, in which some text is replaced. */
export async function plant({ name, changes }: PlantedBug) {
  const query = `?bug=${encodeURIComponent(name)}`
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      return context.parentURL?.endsWith(query) && OURS.test(found.url) ? { ...found, url: found.url + query } : found
    },
    load(url, context, next) {
      if (!url.endsWith(query)) return next(url, context)
      const path = fileURLToPath(url)
      const own = changes.filter(([file]) => path === join(ROOT, file))
      const source = own.reduce(replace, readFileSync(path, 'utf8'))
      return { format: 'module-typescript', source, shortCircuit: true }
    },
  })
  try {
    const url = pathToFileURL(join(import.meta.dirname, 'explore.ts')) + query
    return (await import(url)) as typeof import('./explore.ts')
  } finally {
    hooks.deregister()
  }
}

function replace(text: string, [file, search, by]: Change): string {
  const parts = text.split(search)
  if (parts.length !== 2) throw new Error(`${file} has this ${parts.length - 1} times: ${search}`)
  return parts.join(by)
}
