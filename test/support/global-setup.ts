import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildFunctions } from '../../infra/build/build.ts'
import { readServiceDefinition, type ServiceDefinition } from '../../infra/local/service-definition.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** serverless.yml as npm start uses it. */
    definition: ServiceDefinition
    /** Where the accesses of this run's functions are written down; see aws-call-recorder.ts. */
    recordings: string
  }
}

const ROOT = join(import.meta.dirname, '../..')
const RECORDER = new URL('aws-call-recorder.ts', import.meta.url).href

/** Builds dist/ once, so that every suite tests the bundle of this very source. */
export async function setup(project: TestProject): Promise<void> {
  const recordings = join(ROOT, '.test/aws-calls')
  await rm(recordings, { recursive: true, force: true })
  await mkdir(recordings, { recursive: true })
  project.provide('recordings', recordings)
  process.env.RECORD_AWS_CALLS_IN = recordings
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import ${RECORDER}`
  await buildFunctions({ root: ROOT, outDir: join(ROOT, 'dist') })
  project.provide('definition', await readServiceDefinition(ROOT, 'local'))
}
