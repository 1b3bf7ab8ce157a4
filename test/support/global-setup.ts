import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'
import { buildFunctions } from '../../infra/bundle/build.ts'
import { readServiceDefinition, type ServiceDefinition } from '../../infra/deploy/service-definition.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** serverless.yml as npm start uses it. */
    definition: ServiceDefinition
    /** Where the accesses of this run's functions are written down; see aws-call-recorder.ts. */
    recordings: string
    /** What the test files of a run share: once-per-run.ts, and metafile.json of the bundle. */
    runDirectory: string
  }
}

const PREPARED = Symbol.for('container-file-promotion.tests')
const ROOT = join(import.meta.dirname, '../..')
/** npm test begins them; npm run test:machine adds to them. */
const RECORDINGS = join(ROOT, '.test/aws-calls')
const RECORDER = new URL('aws-call-recorder.ts', import.meta.url).href

type Prepared = Pick<ProvidedContext, 'definition' | 'recordings' | 'runDirectory'>

/** Each project loads this file anew; what it makes is for all of them. */
const shared: typeof globalThis & { [PREPARED]?: Promise<Prepared> } = globalThis

/** Builds dist/ once, so that every suite tests the bundle of the current source. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (project.name === 'slow') await rm(RECORDINGS, { recursive: true, force: true })
  await mkdir(RECORDINGS, { recursive: true })
  shared[PREPARED] ??= prepare()
  const prepared = await shared[PREPARED]
  for (const key of Object.keys(prepared) as (keyof Prepared)[]) project.provide(key, prepared[key])
  return () => rm(prepared.runDirectory, { recursive: true, force: true })
}

async function prepare(): Promise<Prepared> {
  process.env.RECORD_AWS_CALLS_IN = RECORDINGS
  // What the tests start uses this bundle, and writes nothing into dist/.
  process.env.PROMOTION_BUILD = 'skip'
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import ${RECORDER}`
  const metafile = await buildFunctions({ root: ROOT, outDir: join(ROOT, 'dist') })
  const runDirectory = await mkdtemp(join(tmpdir(), 'promotion-run-'))
  await writeFile(join(runDirectory, 'metafile.json'), JSON.stringify(metafile))
  return { definition: readServiceDefinition(), recordings: RECORDINGS, runDirectory }
}
