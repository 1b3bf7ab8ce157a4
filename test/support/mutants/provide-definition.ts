import type { TestProject } from 'vitest/node'
import { readServiceDefinition } from '../../../infra/deploy/service-definition.ts'

/** Builds no bundle: with all mutants in it, it would exceed its budget, and none of these tests uses it. */
export async function setup(project: TestProject): Promise<void> {
  project.provide('definition', readServiceDefinition())
}
