import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'
import { buildIfChanged } from '../../infra/bundle/build-if-changed.ts'
import { readServiceDefinition, type ServiceDefinition } from '../../infra/deploy/service-definition.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** serverless.yml as npm start uses it. */
    definition: ServiceDefinition
    /** Where the accesses of this run's functions are written down; see aws-call-recorder.ts. */
    recordings: string
    /** For once-per-run.ts: what the test files of a run share. */
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
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import ${RECORDER}`
  await buildIfChanged({ root: ROOT, outDir: join(ROOT, 'dist') })
  const runDirectory = await mkdtemp(join(tmpdir(), 'promotion-run-'))
  return { definition: readServiceDefinition(), recordings: RECORDINGS, runDirectory }
}
