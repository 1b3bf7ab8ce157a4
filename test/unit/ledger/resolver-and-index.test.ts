import { afterEach, describe, expect, it, vi } from 'vitest'
import { createPorts, LEASE_MS, ONE_DOCUMENT, WORKSPACE } from '../../support/ports.ts'
import { addExpired, IDLE, resolve, whenDeleted } from '../../support/unit/resolver-runs.ts'

afterEach(() => vi.restoreAllMocks())

describe('resolveDueItems, where the index lags', () => {
  it('passes by an attempt that has made its document, and one that began anew', async () => {
    const ports = createPorts()
    const [one, other] = [ports.begin(), ports.begin()]
    const { nowMs } = ports.clock
    await ports.addDocument(one)
    ports.pass(LEASE_MS)
    await ports.run(['begin'], ports.begin({ documentId: other.documentId }))
    const before = ports.state()
    vi.spyOn(ports.deps.dueWork, 'listDue').mockImplementation(async function* () {
      yield [one, other].map(({ documentId }) => ({ workspaceId: WORKSPACE, itemId: documentId, dueAtMs: nowMs }))
    })
    expect(await resolve('work', ports, { shards: [0] })).toEqual(IDLE)
    expect(ports.state()).toEqual(before)
  })

  it('keeps a document that is prolonged between its reading and its deletion', async () => {
    const ports = createPorts()
    await addExpired(ports, [1])
    whenDeleted(ports, (document) => ports.setExpiry(document, undefined))
    expect(await resolve('expiry', ports)).toEqual(IDLE)
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })
})
