import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { filesOf } from '../../../infra/bundle/build.ts'
import { PROMOTE_ENTRY, zipBudgetBytes, zippedBytes } from '../../support/template/zips.ts'
import { atMost, type Bench } from '../bench.ts'
import { buildOnce, ROOT } from '../bundles.ts'
import { sum } from '../statistics.ts'

const BAR_BYTES = 160_000
const asKb = (bytes: number) => `${(bytes / 1000).toFixed(0)} KB`

/** A function ships as its entry and every chunk that this can reach. */
export const zip: Bench = {
  name: 'zip',
  title: 'Shipped zips of the functions',
  isExact: true,
  async run() {
    const { metafile } = await buildOnce()
    const built = { root: ROOT, entryPoint: PROMOTE_ENTRY, metafile }
    const zipBytes = await zippedBytes(built)
    const others = globSync('functions/*.ts', { cwd: ROOT }).filter((entryPoint) => entryPoint !== PROMOTE_ENTRY)
    const zips = await Promise.all(
      others.map(async (entryPoint) => ({
        name: basename(entryPoint, '.ts'),
        bytes: await zippedBytes({ ...built, entryPoint }),
        budget: zipBudgetBytes(entryPoint),
      })),
    )
    const bytesOf = (files: string[]) => sum(files.map((file) => metafile.outputs[file]?.bytes ?? 0))
    return [
      atMost('zip of the promote function', BAR_BYTES, zipBytes, asKb),
      { what: 'budget that fails a test', measured: asKb(zipBudgetBytes(PROMOTE_ENTRY)) },
      { what: 'code read at load, minified', measured: asKb(bytesOf(filesOf(built, 'static'))) },
      ...zips.map(({ name, bytes, budget }) => atMost(`zip of ${name}, budget that fails a test`, budget, bytes, asKb)),
    ]
  },
}
