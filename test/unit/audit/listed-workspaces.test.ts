import { describe, expect, it, vi } from 'vitest'
import { type AuditShard, newShards } from '../../../lib/audit/audit-shard.ts'
import { isOfEarlierPhase, listedWorkspaces } from '../../../lib/audit/listed-workspaces.ts'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, WORKSPACE } from '../../support/ports.ts'

const { signal } = new AbortController()

describe('the workspaces of a shard', () => {
  it('are left to another phase where there is a ledger, readable or not; any other failure is told', async () => {
    const ports = createPorts()
    await ports.run(['begin', 'copy', 'record'])
    const [begun] = newShards({ roundId: 'one', startedAtMs: 0, totalShards: 1 }) as [AuditShard]
    const shard = { ...begun, phase: 'documents' } as const
    const sources = { deps: ports.deps, signal }
    expect(await Array.fromAsync(listedWorkspaces(shard, sources))).toEqual([WORKSPACE])
    const isAudited = () => isOfEarlierPhase(WORKSPACE, shard, sources)
    expect(await isAudited()).toBe(false)
    const read = vi.spyOn(ports.ledger, 'read').mockRejectedValue(new UnreadableItemError('a number beyond 2^53'))
    expect(await isAudited()).toBe(true)
    read.mockRejectedValue(new Error('down'))
    await expect(isAudited()).rejects.toThrow('down')
  })
})
