import { describe, expect, it, vi } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import { type Candidate, candidatesOf } from '../../lib/maintenance/audit-candidates.ts'
import { type AuditPhase, newShard } from '../../lib/maintenance/audit-shard.ts'
import { UnreadableItemError } from '../../lib/unreadable-item.ts'
import { runAudit } from '../support/maintenance/run-audit.ts'
import { createPorts, type Ports, WORKSPACE } from '../support/ports.ts'

const { signal } = new AbortController()
const ROUND = { roundId: 'one', startedAtMs: 0, shard: 0, totalShards: 1, expectedWorkspaces: 1 }

describe('the audit, of an object without a document', () => {
  it('reports it beside attempts that are under way', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    await ports.run(['take', 'open', 'unmark'])
    const { objectKey } = await ports.run(['copy'])
    expect((await runAudit(ports)).findings).toMatchObject([{ kind: 'object_without_document', objectKey }])
  })

  it('does not report it when it is gone by then', async () => {
    const ports = createPorts()
    await ports.run(['copy'])
    vi.spyOn(ports.objects, 'hasObject').mockResolvedValue(false)
    expect((await runAudit(ports)).findings).toEqual([])
  })

  it('takes an unreadable record for its document, and no other failure', async () => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.run(['copy'])
    const find = vi
      .spyOn(ports.documents, 'findEvenDeleted')
      .mockRejectedValue(new UnreadableItemError('a number beyond 2^53'))
    expect((await runAudit(ports)).findings).toEqual([])
    find.mockRejectedValue(new Error('down'))
    await expect(runAudit(ports)).rejects.toThrow('down')
  })
})

describe('the candidates of a shard', () => {
  async function candidatesIn({ deps }: Ports, phase: AuditPhase, after?: string): Promise<Candidate[]> {
    const all: Candidate[] = []
    const shard = { ...newShard(ROUND), phase, ...(after !== undefined && { after }) }
    for await (const candidate of candidatesOf(shard, deps, signal)) all.push(candidate)
    return all
  }

  it('are left to another phase where there is a ledger, readable or not; any other failure is told', async () => {
    const ports = createPorts()
    await ports.run(['copy', 'record'])
    const candidates = () => candidatesIn(ports, 'documents')
    const found = { id: WORKSPACE, workspaceId: WORKSPACE }
    expect(await candidates()).toEqual([{ ...found, isKnown: false }])
    const read = vi.spyOn(ports.ledger, 'read').mockRejectedValue(new UnreadableItemError('a number beyond 2^53'))
    expect(await candidates()).toEqual([{ ...found, isKnown: true }])
    read.mockRejectedValue(new Error('down'))
    await expect(candidates()).rejects.toThrow('down')
  })

  it('begin after the one that was done, in the order of the bucket, and leave out what is not ours', async () => {
    const ports = createPorts()
    const ids = ['ws_a', 'ws_b', 'ws_c'] as WorkspaceId[]
    for (const workspaceId of ids) await ports.run(['copy'], ports.begin({ workspaceId }))
    ports.putObject({ objectKey: 'documents/not ours!/x', sizeBytes: 1 })
    expect((await candidatesIn(ports, 'objects')).map(({ id }) => id)).toEqual(ids)
    expect((await candidatesIn(ports, 'objects', 'ws_a')).map(({ id }) => id)).toEqual(ids.slice(1))
  })

  it('are the uploads of a key, all of them together', async () => {
    const ports = createPorts()
    const [one, other] = [ports.begin(), ports.begin()].map(({ objectKey }) => objectKey).toSorted()
    const upload = (objectKey = '', startedAtMs = 1) => ({ objectKey, startedAtMs })
    ports.objects.uploads.push(upload(one), upload(one, 2), upload(other), upload('documents/not ours!/x'))
    expect(await candidatesIn(ports, 'uploads')).toEqual([
      { id: one, workspaceId: WORKSPACE, uploads: [upload(one), upload(one, 2)], isKnown: false },
      { id: other, workspaceId: WORKSPACE, uploads: [upload(other)], isKnown: false },
    ])
  })
})
