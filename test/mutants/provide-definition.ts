import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { readServiceDefinition } from '../../infra/local/service-definition.ts'

/** Without the bundle: one with all mutants in it is larger than its budget, and none of these tests uses it. */
export async function setup(project: TestProject): Promise<void> {
  project.provide('definition', await readServiceDefinition(join(import.meta.dirname, '../..'), 'local'))
}
