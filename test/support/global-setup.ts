import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildIfChanged } from '../../infra/bundle/build-if-changed.ts'
import { readServiceDefinition, type ServiceDefinition } from '../../infra/local/service-definition.ts'
import { stopServiceProcess } from './local-service/shared-process.ts'

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
const RECORDER = new URL('aws-call-recorder.ts', import.meta.url).href

interface Prepared {
  definition: ServiceDefinition
  recordings: string
  runDirectory: string
}

/** Each project loads this file anew; what it makes is for all of them. */
const shared: typeof globalThis & { [PREPARED]?: Promise<Prepared> } = globalThis

/** Builds dist/ once, so that every suite tests the bundle of this very source. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared[PREPARED] ??= prepare()
  const prepared = await shared[PREPARED]
  for (const key of Object.keys(prepared) as (keyof Prepared)[]) project.provide(key, prepared[key])
  return async () => {
    await stopServiceProcess(join(prepared.runDirectory, 'service'))
    await rm(prepared.runDirectory, { recursive: true, force: true })
  }
}

async function prepare(): Promise<Prepared> {
  const recordings = join(ROOT, '.test/aws-calls')
  await rm(recordings, { recursive: true, force: true })
  await mkdir(recordings, { recursive: true })
  process.env.RECORD_AWS_CALLS_IN = recordings
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import ${RECORDER}`
  const [definition] = await Promise.all([
    readServiceDefinition(ROOT, 'local'),
    buildIfChanged({ root: ROOT, outDir: join(ROOT, 'dist') }),
  ])
  return { definition, recordings, runDirectory: await mkdtemp(join(tmpdir(), 'promotion-run-')) }
}
