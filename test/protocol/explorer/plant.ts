import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const OURS = /\/(lib|test\/protocol)\/[^?]*\.ts$/
const [FILE, BUG, CHANGE] = [/^\+\+\+ (.+)\n/, /^@@ (.+) @@ (.+)\n/, /((?:^-.*\n)+)((?:^\+(?!\+\+ ).*\n)*)/]
const LINES = new RegExp([FILE, BUG, CHANGE].map(({ source }) => source).join('|'), 'gm')

export interface PlantedBug {
  name: string
  /** Whose exploration finds it, within its bounds and with its fates. */
  where: string
  changes: { file: string; search: string; by: string }[]
}

/**
 * Reads *.diff, parts of lines which their file has once. "@@ scenario switches faults times fates @@ name": without fates,
 * all are tried. An empty line is added where more is changed after what was taken away.
 */
export function readPlantedBugs(folder: string): PlantedBug[] {
  const bugs: PlantedBug[] = []
  const textOf = (lines = '') => lines.replace(/^[-+]/gm, '').replace(/\n$/, '')
  let file = ''
  for (const path of globSync(`${folder}/*.diff`).toSorted()) {
    for (const [, to, where, name, taken, added] of readFileSync(path, 'utf8').matchAll(LINES)) {
      if (to) file = to
      else if (where && name) bugs.push({ name, where, changes: [] })
      else bugs.at(-1)?.changes.push({ file, search: textOf(taken), by: textOf(added) })
    }
  }
  return bugs
}

export function placeOf({ where }: PlantedBug) {
  const [id = '', switches, faults, times, ...fates] = where.split(' ')
  return { id, bounds: { switches: Number(switches), faults: Number(faults), times: Number(times) }, fates }
}

const COUNTED_IDS = { file: 'lib/ids.ts', search: "'uuid'", by: "'../test/protocol/explorer/counted-ids.ts'" }

type Explorer = typeof import('./explore.ts')

/** The explorer with a copy of all that is explored, in which some text is replaced. */
export async function plant({ name, changes: planted }: Omit<PlantedBug, 'where'>): Promise<Explorer> {
  const changes = [COUNTED_IDS, ...planted]
  const query = `?bug=${encodeURIComponent(name).replaceAll("'", '%27')}`
  const missing = new Set(changes)
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      return context.parentURL?.endsWith(query) && OURS.test(found.url) ? { ...found, url: found.url + query } : found
    },
    load(url, context, next) {
      if (!url.endsWith(query)) return next(url, context)
      const path = fileURLToPath(url)
      const source = changes.reduce(
        (text, change) => {
          const { file, search, by } = change
          if (!path.endsWith(`/${file}`)) return text
          missing.delete(change)
          const parts = text.split(search)
          if (parts.length !== 2) throw new Error(`${file} has this ${parts.length - 1} times: ${search}`)
          return parts.join(by)
        },
        readFileSync(path, 'utf8'),
      )
      return { format: 'module-typescript', source, shortCircuit: true }
    },
  })
  try {
    const explorer = await import(import.meta.resolve('./explore.ts') + query)
    if (missing.size > 0) throw new Error(`not loaded: ${[...missing].map(({ file }) => file)}`)
    return explorer
  } finally {
    hooks.deregister()
  }
}

let sound: Promise<Explorer> | undefined
/** The explorer of the code as it is, loaded once for all files of a worker. */
export function soundExplorer(): Promise<Explorer> {
  sound ??= plant({ name: 'none', changes: [] })
  return sound
}
