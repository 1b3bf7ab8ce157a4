import { describe, expect, it, vi } from 'vitest'
import { type Candidate, candidatesOf } from '../../../lib/audit/audit-candidates.ts'
import type { AuditPhase } from '../../../lib/audit/audit-shard.ts'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, type Ports, WORKSPACE } from '../../support/ports.ts'

const { signal } = new AbortController()

async function candidatesIn({ deps }: Ports, phase: AuditPhase, after?: string): Promise<Candidate[]> {
  const all: Candidate[] = []
  const place = { shard: 0, totalShards: 1, phase, ...(after !== undefined && { after }) }
  for await (const candidate of candidatesOf(place, { deps, signal })) all.push(candidate)
  return all
}

describe('the candidates of a shard', () => {
  it('are left to another phase where there is a ledger, readable or not; any other failure is told', async () => {
    const ports = createPorts()
    await ports.run(['begin', 'copy', 'record'])
    const candidates = () => candidatesIn(ports, 'documents')
    const found = { id: WORKSPACE, workspaceId: WORKSPACE }
    expect(await candidates()).toEqual([{ ...found, isAudited: false }])
    const read = vi.spyOn(ports.ledger, 'read').mockRejectedValue(new UnreadableItemError('a number beyond 2^53'))
    expect(await candidates()).toEqual([{ ...found, isAudited: true }])
    read.mockRejectedValue(new Error('down'))
    await expect(candidates()).rejects.toThrow('down')
  })

  it('are the uploads of a key, all of them together', async () => {
    const ports = createPorts()
    const [one, other] = [ports.begin(), ports.begin()].map(({ objectKey }) => objectKey).toSorted()
    const upload = (objectKey = '', startedAtMs = 1) => {
      return { objectKey, startedAtMs, uploadId: ports.objects.leaveUpload(objectKey, startedAtMs) }
    }
    const [first, second, third] = [upload(one), upload(one, 2), upload(other), upload('documents/not ours!/x')]
    expect(await candidatesIn(ports, 'uploads')).toEqual([
      { id: one, workspaceId: WORKSPACE, uploads: [first, second], isAudited: false },
      { id: other, workspaceId: WORKSPACE, uploads: [third], isAudited: false },
    ])
  })
})
