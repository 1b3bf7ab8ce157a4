import type { TestProject } from 'vitest/node'
import { readServiceDefinition } from '../../../infra/deploy/service-definition.ts'

/** Without the bundle: one with all mutants in it is larger than its budget, and none of these tests uses it. */
export async function setup(project: TestProject): Promise<void> {
  project.provide('definition', readServiceDefinition())
}
