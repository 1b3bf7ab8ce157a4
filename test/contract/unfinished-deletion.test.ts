import { DeleteItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDocumentRecords } from '../../lib/aws/document-records.ts'
import { createLedgerMaintenance } from '../../lib/aws/ledger-maintenance.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { createReservations } from '../../lib/aws/reservations.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { deleteDocument } from '../../lib/promotion/delete-document.ts'
import { resolveWorkspace } from '../../lib/promotion/resolve-workspace.ts'
import { createPorts, LEASE_MS } from '../support/ports.ts'
import { newDocument, newReservation, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { type StandIns, startStandIns } from '../support/stores/stand-ins.ts'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

/** The ledger in DynamoDB, objects in memory, and one clock for all. */
function createWorld() {
  const { dynamoDb: client, config } = standIns
  const { clock, objects, deps, putObject } = createPorts()
  const now = () => clock.nowMs
  const settings = { client, tableName: config.workspacesTable, defaultQuotaBytes: 1000 }
  return {
    clock,
    objects,
    putObject,
    deps: {
      ...deps,
      ledger: createQuotaLedger(settings),
      ledgers: createLedgerMaintenance(settings),
      reservations: createReservations({ client, tableName: config.reservationsTable }),
      documents: createDocumentRecords({ client, tableName: config.documentsTable, now }),
    },
    /** What DynamoDB does with the items whose time to live is over; the stand-in does not. */
    async expire(): Promise<void> {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: config.documentsTable }))
      for (const { workspace_id, document_id, expires_at } of Items) {
        if (expires_at === undefined || Number(expires_at.N) * 1000 > clock.nowMs) continue
        const Key = { workspace_id: workspace_id ?? { S: '' }, document_id: document_id ?? { S: '' } }
        await client.send(new DeleteItemCommand({ TableName: config.documentsTable, Key }))
      }
    },
  }
}

describe('fixed: a deletion that stays unfinished for days', () => {
  let workspaceId: WorkspaceId
  let world: ReturnType<typeof createWorld>
  beforeEach(() => {
    workspaceId = newWorkspaceId()
    world = createWorld()
  })
  const addDocument = async () => {
    const { ledger, reservations, documents } = world.deps
    const one = newReservation({ workspaceId, leaseExpiresAtMs: world.clock.nowMs + LEASE_MS })
    await ledger.take(one, signal)
    await reservations.open(one, false, signal)
    await ledger.unmark(one, signal)
    world.putObject(one)
    await documents.record(newDocument(one), signal)
    await reservations.remove(one, signal)
    return newDocument(one)
  }
  const resolve = () =>
    resolveWorkspace(
      workspaceId,
      { maxResolutions: 10, claimUntilMs: world.clock.nowMs + LEASE_MS },
      world.deps,
      signal,
    )
  const used = async () => (await world.deps.ledger.usage(workspaceId, signal))?.usedBytes

  it('gives its bytes back when its object can be deleted at last, and only then', async () => {
    await addDocument()
    const document = await addDocument()
    const refusing = vi.spyOn(world.objects, 'discard').mockRejectedValue(new Error('AccessDenied'))
    await expect(deleteDocument(document, world.deps, signal)).rejects.toThrow('AccessDenied')
    for (let hours = 0; hours < 72; hours += 8) {
      world.clock.nowMs += 8 * HOUR_MS
      await world.expire()
      expect(await resolve()).toMatchObject({ failed: 1 })
      expect([await used(), world.objects.documents.has(document.objectKey)]).toEqual([200, true])
    }
    refusing.mockRestore()
    world.clock.nowMs += HOUR_MS
    expect(await resolve()).toMatchObject({ released: 1, failed: 0 })
    expect([await used(), world.objects.documents.has(document.objectKey)]).toEqual([100, false])
  })

  it('is completed after days without a resolver', async () => {
    await addDocument()
    const document = await addDocument()
    vi.spyOn(world.objects, 'discard').mockRejectedValueOnce(new Error('killed'))
    await expect(deleteDocument(document, world.deps, signal)).rejects.toThrow('killed')
    world.clock.nowMs += 100 * HOUR_MS
    await world.expire()
    await resolve()
    expect([await used(), world.objects.documents.has(document.objectKey)]).toEqual([100, false])
  })
})
