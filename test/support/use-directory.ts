import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'

/** A directory for all tests of a file, or of a suite, which is empty when they begin and goes when they have ended. */
export function useDirectory(name: string): () => string {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), `promotion-${name}-`))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))
  return () => directory
}
