import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { depth } from '../../support/depth.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'
import { type Exploration, explore } from './explore.ts'
import type { Fate } from './process.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

replaceWaits()

/** What a bug takes to be found at most; most take hundreds. */
const MAX_STATES = 50_000
/** One of so many is planted: they are ordered by what they are about, so that some of each kind are among them. */
const EACH = { shallow: 12, deep: 4, whole: 1 }[depth()]
/** Of the code as it is, within the same bounds: or as many as the bug takes, if they are more. */
const LEAST_SOUND_STATES = { shallow: 500, deep: 5000, whole: 5000 }[depth()]
const OURS = /\/(lib\/|test\/support\/(fakes\/|ports)|test\/protocol\/)[^?]*\.ts$/
const [FILE, BUG, CHANGE] = [/^\+\+\+ (.+)\n/, /^@@ (.+) @@ (.+)\n/, /((?:^-.*\n)+)((?:^\+(?!\+\+ ).*\n)*)/]
const LINES = new RegExp([FILE, BUG, CHANGE].map(({ source }) => source).join('|'), 'gm')

interface PlantedBug {
  name: string
  where: string
  /** Whose exploration finds it, within its bounds and with its fates. */
  scenario: Scenario
  changes: { file: string; search: string; by: string }[]
}

/**
 * Reads planted/*.diff, parts of lines which their file has once. "@@ scenario switches faults times fates @@ name": without
 * fates, all are tried. An empty line is added where more is changed after what was taken away.
 */
function readPlantedBugs(): PlantedBug[] {
  const bugs: PlantedBug[] = []
  const textOf = (lines = '') => lines.replace(/^[-+]/gm, '').replace(/\n$/, '')
  let file = ''
  for (const path of globSync(`${import.meta.dirname}/planted/*.diff`).toSorted()) {
    for (const [, to, where, name, taken, added] of readFileSync(path, 'utf8').matchAll(LINES)) {
      if (to) file = to
      else if (where && name) bugs.push({ name, where, scenario: scenarioOf(where), changes: [] })
      else bugs.at(-1)?.changes.push({ file, search: textOf(taken), by: textOf(added) })
    }
  }
  return bugs
}

function scenarioOf(where: string): Scenario {
  const [id, switches, faults, times, ...fates] = where.split(' ')
  const bounds = { switches: Number(switches), faults: Number(faults), times: Number(times) }
  return { ...SCENARIOS[id as keyof typeof SCENARIOS], bounds, ...(fates.length > 0 && { fates: fates as Fate[] }) }
}

/** Loads the explorer once more, with a copy of all that it explores, in which some text is replaced. */
async function plant({ name, changes }: PlantedBug): Promise<typeof import('./explore.ts')> {
  const query = `?bug=${encodeURIComponent(name)}`
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      return context.parentURL?.endsWith(query) && OURS.test(found.url) ? { ...found, url: found.url + query } : found
    },
    load(url, context, next) {
      if (!url.endsWith(query)) return next(url, context)
      const path = fileURLToPath(url)
      const source = changes.reduce(
        (text, { file, search, by }) => {
          const parts = text.split(search)
          if (!path.endsWith(`/${file}`)) return text
          if (parts.length !== 2) throw new Error(`${file} has this ${parts.length - 1} times: ${search}`)
          return parts.join(by)
        },
        readFileSync(path, 'utf8'),
      )
      return { format: 'module-typescript', source, shortCircuit: true }
    },
  })
  try {
    return await import(import.meta.resolve('./explore.ts') + query)
  } finally {
    hooks.deregister()
  }
}

const sound = new Map<string, Exploration>()

/** Once for all bugs that are looked for there, unless a later one takes more states. */
async function exploreSound({ where, scenario }: PlantedBug, states: number): Promise<Exploration> {
  const before = sound.get(where)
  if (before && (before.isComplete || before.states >= states)) return before
  const explored = await explore(scenario, Math.max(LEAST_SOUND_STATES, states))
  sound.set(where, explored)
  return explored
}

describe('the explorer finds what it is for: a bug planted in the code', () => {
  const bugs = readPlantedBugs().filter((_, index) => index % EACH === 0)

  it.each(bugs.map((bug) => [bug.name, bug] as const))('%s', async (_, bug) => {
    const planted = await plant(bug)

    const { violation, states } = await planted.explore(bug.scenario, MAX_STATES)

    expect(violation).toBeDefined()
    // Otherwise it would be found in sound code, too.
    expect((await exploreSound(bug, states)).violation).toBeUndefined()
  })
})
