import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildFunctions } from '../../infra/build/build.ts'
import { readServiceDefinition, type ServiceDefinition } from '../../infra/local/service-definition.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** serverless.yml as npm start uses it. */
    definition: ServiceDefinition
    /** For packages.ts, which fills it. */
    packagesDirectory: string
  }
}

const ROOT = join(import.meta.dirname, '../..')

/** Builds dist/ once, so that every suite tests the bundle of this very source. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildFunctions({ root: ROOT, outDir: join(ROOT, 'dist') })
  project.provide('definition', await readServiceDefinition(ROOT, 'local'))
  const packagesDirectory = await mkdtemp(join(tmpdir(), 'promotion-packages-'))
  project.provide('packagesDirectory', packagesDirectory)
  return () => rm(packagesDirectory, { recursive: true, force: true })
}
