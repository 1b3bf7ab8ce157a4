import { expect } from 'vitest'
import { deadlineIn } from '../api/rest-event.ts'
import { patternBytes } from '../stores/pattern-bytes.ts'
import { skipWaits } from '../virtual-waits.ts'
import type { Fault } from './fault-proxy.ts'
import { heal } from './heal.ts'
import type { TestProcess } from './test-process.ts'
import { useTestProcesses } from './use-test-processes.ts'
import type { TestWorkspace, WorkspaceState } from './workspaces.ts'

export const NOTHING: WorkspaceState = {
  ...{ documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, unfinished: 0, strays: 0 },
}

/** The state with one document of this many bytes. */
export const kept = (usedBytes: number): WorkspaceState => ({ ...NOTHING, documents: 1, objects: 1, usedBytes })

/** Two parts with the local stage's smallest part of 5 MiB. */
export const LARGE_BYTES = patternBytes(11 * 1024 * 1024 + 1)

/** The workspace once the resolver has run. */
async function healedState(service: TestProcess, workspace: TestWorkspace): Promise<WorkspaceState> {
  service.restart()
  await heal(service, workspace)
  service.setClock(0)
  return service.stateOf(workspace)
}

interface Given {
  /** How long the request has, before its undo. */
  leftMs?: number | undefined
  quotaBytes?: number
}

/**
 * Promotions, one after the other, each with one kind of call that goes wrong. Pauses take no time, and the time of a
 * deadline goes by while a call hangs, so nothing depends on how fast the machine is.
 */
export function usePromotionsThatFail() {
  const time = skipWaits()
  const processes = useTestProcesses({ atOnce: 1, hungMs: 1000 })
  const inProcess = <Result>(test: (service: TestProcess) => Promise<Result>) =>
    processes.one((service) => {
      service.restart()
      service.stopClock(undefined)
      return test(service)
    })

  /** @param fail the fault that a call of this name meets @param quotaBytes by default the promotion makes the workspace */
  const promoteWith = (fail: (call: string) => Fault | undefined, bytes: Buffer, { leftMs, quotaBytes }: Given = {}) =>
    inProcess(async (service) => {
      // The rate limit's calls depend on the time between them.
      service.stopClock(Date.now())
      const workspace = await service.newWorkspace(quotaBytes)
      await service.putFile(workspace, 'a.txt', bytes)
      service.breakCalls(({ name }) => fail(name))
      const response = await service.promote(workspace, 'a.txt', leftMs ? { remainingMs: deadlineIn(leftMs) } : {})
      const calls = service.takeCallNames()
      expect(JSON.stringify(response)).not.toMatch(/secret|arn:|sandboxes\/|local-|at .*\.ts|Exception/)
      const state = await service.stateOf(workspace)
      return { response, calls, state, healed: state.strays > 0 ? await healedState(service, workspace) : state }
    })

  /** @param times.hangsMs how long the call hangs, if nothing ends it sooner */
  async function promoteBroken(
    call: string,
    fault: Fault,
    bytes: Buffer,
    times: Pick<Given, 'leftMs'> & { hangsMs?: number | undefined } = {},
  ) {
    const { leftMs, hangsMs = leftMs } = times
    let hasHung = false
    const fail = (name: string) => {
      if (name !== call) return undefined
      // Once it is sent.
      if (fault.kind === 'hang' && hangsMs && !hasHung) setTimeout(() => time.pass(hangsMs), 20)
      hasHung = true
      return fault
    }
    const failed = await promoteWith(fail, bytes, { leftMs })
    expect(failed.calls).toContain(call)
    return failed
  }

  return { inProcess, promoteBroken, promoteWith }
}

type Failed = Awaited<ReturnType<ReturnType<typeof usePromotionsThatFail>['promoteBroken']>>

/** Expects the row's answer, and nothing left behind but, of what may still arrive, a stray, which the resolver ends. */
export function expectRow({ response, state, healed }: Failed, status: number, reason: string, strays = 0): void {
  expect(response).toMatchObject({ status, body: { error: { metadata: { reason } } } })
  expect(state).toEqual({ ...NOTHING, strays })
  expect(healed).toEqual(NOTHING)
}
