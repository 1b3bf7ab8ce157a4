import { describe, expect, it, vi } from 'vitest'
import { listedWorkspaces } from '../../../lib/audit/listed-workspaces.ts'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, WORKSPACE } from '../../support/ports.ts'

const { signal } = new AbortController()

describe('the workspaces of a shard', () => {
  it('are left to another phase where there is a ledger, readable or not; any other failure is told', async () => {
    const ports = createPorts()
    await ports.run(['begin', 'copy', 'record'])
    const position = { shard: 0, totalShards: 1, phase: 'documents' } as const
    const listed = () => Array.fromAsync(listedWorkspaces(position, { deps: ports.deps, signal }))
    const found = { workspaceId: WORKSPACE }
    expect(await listed()).toEqual([{ ...found, isAudited: false }])
    const read = vi.spyOn(ports.ledger, 'read').mockRejectedValue(new UnreadableItemError('a number beyond 2^53'))
    expect(await listed()).toEqual([{ ...found, isAudited: true }])
    read.mockRejectedValue(new Error('down'))
    await expect(listed()).rejects.toThrow('down')
  })
})
