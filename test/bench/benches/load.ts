import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asMs, asRatio, atMost, type Bench, shown } from '../bench.ts'
import { lambdaEnvironment, withBundles } from '../bundles.ts'
import { median } from '../statistics.ts'

const LOAD_BAR = 0.45
const PROCESS_BAR = 3
/** The bar for each other function, as a multiple of the promotion's load. */
const OTHERS_BAR = 1.1
const UNUSED_ENDPOINT = 'http://127.0.0.1:1'

interface Start {
  loadMs: number
  processMs: number
}

/** Fresh processes, the variants in turns. The load is timed inside the process, start and load from outside. */
export const load: Bench = {
  name: 'load',
  title: 'Module load of the functions',
  run: ({ isQuick, progress }) =>
    withBundles(async ({ product, byDefault, functions: { 'promote-container-file': _, ...others } }) => {
      const cacheFolder = await mkdtemp(join(tmpdir(), 'promotion-compile-cache-'))
      const variants: Record<string, () => Start> = {
        ...Object.fromEntries(Object.entries(others).map(([name, bundle]) => [name, () => start(bundle)])),
        product: () => start(product),
        default: () => start(byDefault),
        cached: () => start(product, { NODE_COMPILE_CACHE: cacheFolder }),
        empty: () => start(undefined),
      }
      const starts = Object.fromEntries(Object.keys(variants).map((name) => [name, [] as Start[]]))
      // The first run of each is not counted: it reads the files from disk, and fills the cache.
      const count = isQuick ? 2 : 26
      let isCacheWritten: boolean
      try {
        for (let round = 0; round < count; round++) {
          progress(`round ${round} of ${count - 1}`)
          for (const [name, run] of Object.entries(variants)) {
            const measured = run()
            if (round > 0) starts[name]?.push(measured)
          }
        }
        isCacheWritten = (await readdir(cacheFolder)).length > 0
      } finally {
        await rm(cacheFolder, { recursive: true })
      }
      const loadOf = (name: string) => median((starts[name] ?? []).map(({ loadMs }) => loadMs))
      const processOf = (name: string) => median((starts[name] ?? []).map(({ processMs }) => processMs))
      const ratio = loadOf('product') / loadOf('default')
      return {
        rows: [
          atMost(
            'load of the promotion, of the default bundle',
            LOAD_BAR,
            ratio,
            asRatio,
            ` (${asMs(loadOf('product'))})`,
          ),
          atMost(
            'start and load, of an empty process',
            PROCESS_BAR,
            processOf('product') / processOf('empty'),
            asRatio,
          ),
          ...Object.keys(others).map((name) =>
            atMost(
              `load of ${name}, of the promotion's`,
              OTHERS_BAR,
              loadOf(name) / loadOf('product'),
              asRatio,
              ` (${asMs(loadOf(name))})`,
            ),
          ),
          shown('load with a warm compile cache (not shipped)', asMs(loadOf('cached'))),
        ],
        figures: {
          starts: count - 1,
          isCacheWritten,
          loadMs: {
            product: loadOf('product'),
            default: loadOf('default'),
            cached: loadOf('cached'),
            ...Object.fromEntries(Object.keys(others).map((name) => [name, loadOf(name)])),
          },
          processMs: { product: processOf('product'), default: processOf('default'), empty: processOf('empty') },
        },
        plots: [
          {
            file: 'load-by-bundle',
            title: 'Module load of the promote function',
            x: 'bundle',
            y: 'ms, median',
            kind: 'bars',
            series: [
              { name: "esbuild's defaults", points: [{ x: 'default', y: loadOf('default') }] },
              { name: 'as it ships', points: [{ x: 'product', y: loadOf('product') }] },
              { name: 'warm compile cache', points: [{ x: 'cached', y: loadOf('cached') }] },
            ],
          },
        ],
      }
    }),
}

/** As Lambda's runtime does it: ES modules are imported, CommonJS is required. */
function start(bundle: string | undefined, env: Record<string, string> = {}): Start {
  const load = bundle?.endsWith('.cjs')
    ? `require(${JSON.stringify(bundle)})`
    : `await import(${JSON.stringify(bundle)})`
  const script = `(async () => {
    const startedMs = performance.now()
    ${load}
    require('node:fs').writeSync(1, String(performance.now() - startedMs))
  })()`
  const startedMs = performance.now()
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--eval', bundle === undefined ? '' : script], {
    env: { ...process.env, ...lambdaEnvironment(UNUSED_ENDPOINT), ...env },
    encoding: 'utf8',
  })
  const processMs = performance.now() - startedMs
  if (status !== 0) throw new Error(stderr)
  return { loadMs: Number(stdout), processMs }
}
