import { expect, it } from 'vitest'
import { useTestProcesses } from '../../support/protocol/use-test-processes.ts'

const onProcesses = useTestProcesses({ atOnce: 1 })

it.each(['kill_before', 'kill_after'] as const)(
  'what a process was doing is not done by the next one: %s',
  async (kind) => {
    await onProcesses.one(async (process) => {
      const { workspaceId } = await process.newWorkspace(1000)
      process.restart()
      process.breakCalls(() => ({ kind }))
      // The product repeats a read whose connection breaks, after a pause.
      const reading = process.deps.ledger.usage(workspaceId, AbortSignal.timeout(60_000)).catch((error) => error)
      await process.died()
      process.restart()
      expect(await reading).toMatchObject({ reason: 'service_unavailable' })
      expect(process.takeCallNames()).toEqual([])
      await process.deps.ledger.usage(workspaceId, AbortSignal.timeout(60_000))
      expect(process.takeCallNames()).toEqual(['ledger.read'])
    })
  },
)
