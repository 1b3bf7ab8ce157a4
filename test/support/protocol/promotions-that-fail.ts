import { expect } from 'vitest'
import { patternBytes } from '../stores/pattern-bytes.ts'
import type { Fault } from './fault-proxy.ts'
import type { TestProcess } from './test-process.ts'
import { useTestProcesses } from './use-test-processes.ts'
import type { TestWorkspace, WorkspaceState } from './workspaces.ts'

const HOURS_MS = 2 * 3_600_000

export const NOTHING: WorkspaceState = { documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, reservations: 0 }

/** The state with one document of this many bytes. */
export const kept = (usedBytes: number): WorkspaceState => ({ ...NOTHING, documents: 1, objects: 1, usedBytes })

/** Two parts with the local stage's smallest part of 5 MiB. */
export const LARGE_BYTES = patternBytes(11 * 1024 * 1024 + 1)

/** What is stored once leases are over and the resolver has run, twice, because of copies that may have come late. */
export async function healedState(service: TestProcess, workspace: TestWorkspace): Promise<WorkspaceState> {
  service.restart()
  for (const looks of [1, 2]) {
    service.setClock(looks * HOURS_MS)
    expect(await service.resolveWorkspace(workspace.workspaceId)).toMatchObject({ failed: 0, isComplete: true })
  }
  service.setClock(0)
  return service.stateOf(workspace)
}

/** Promotions in processes of a test file, each with one kind of call that goes wrong. */
export function usePromotionsThatFail() {
  // These have the product's own time limits, which are what ends some of these rows.
  const processes = useTestProcesses({ atOnce: 16, hasOwnTimeouts: true })
  const inProcess = <Result>(test: (service: TestProcess) => Promise<Result>) =>
    processes.one((service) => {
      service.restart()
      service.stopClock(undefined)
      return test(service)
    })

  const promoteBroken = (call: string, fault: Fault, bytes: Buffer, remainingMs?: () => number) =>
    inProcess(async (service) => {
      const workspace = await service.newWorkspace()
      await service.putFile(workspace, 'a.txt', bytes)
      service.breakCalls(({ name }) => (name === call ? fault : undefined))
      const response = await service.promote(workspace, 'a.txt', { remainingMs })
      expect(service.takeCallNames()).toContain(call)
      expect(JSON.stringify(response)).not.toMatch(/secret|arn:|sandboxes\/|local-|at .*\.ts|Exception/)
      const state = await service.stateOf(workspace)
      return { response, state, healed: state.reservations > 0 ? await healedState(service, workspace) : state }
    })

  return { inProcess, promoteBroken }
}

interface Failed {
  response: { status: number; body: unknown }
  state: WorkspaceState
  healed: WorkspaceState
}

/** Expects the row's answer. Its reservation may be open, so its bytes stay counted until the resolver comes. */
export function expectLeftToResolver({ response, state, healed }: Failed, status: number, reason: string): void {
  expect(state).toMatchObject({ documents: 0, usedBytes: 5 })
  expectRow({ response, state: healed }, status, reason)
}

/** Expects the row's answer, and nothing left behind. */
export function expectRow({ response, state }: Omit<Failed, 'healed'>, status: number, reason: string): void {
  expect(response).toMatchObject({ status, body: { error: { metadata: { reason } } } })
  expect(state).toEqual(NOTHING)
}
