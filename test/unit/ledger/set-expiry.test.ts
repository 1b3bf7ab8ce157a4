import { describe, expect, it, vi } from 'vitest'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import { createPorts, LEASE_MS, NOTHING, type Ports } from '../../support/ports.ts'
import { resolve } from '../../support/unit/resolver-runs.ts'

const { signal } = new AbortController()

/** Has a document kept for ever that has so much time left. @param meanwhile done between its sending and its arrival */
async function change(leftMs: number, meanwhile: (ports: Ports) => unknown = () => {}) {
  const ports = createPorts()
  const document = await ports.addDocument(undefined, { expiresAt: new Date(ports.clock.nowMs + leftMs) })
  const client = ports.stored.client as unknown as { send(command: unknown): Promise<unknown> }
  const { send } = client
  const sending = vi.spyOn(client, 'send').mockImplementationOnce(async (command) => {
    await meanwhile(ports)
    return send(command)
  })
  const isSet = await ports.documents.setExpiry(document, undefined, signal)
  return { ports, document, isSet, sent: sending.mock.calls.length }
}

describe('fixed: a change of an expiry', () => {
  it('is not sent when it could arrive after the end, as it may be under way for as long as a lease', async () => {
    expect(await change(LEASE_MS)).toMatchObject({ isSet: false, sent: 0 })
  })

  it('arrives before anybody was told that the document has expired', async () => {
    const { ports, document, isSet } = await change(LEASE_MS + 1, ({ pass }) => pass(LEASE_MS))
    expect([isSet, hasExpired(document, ports.clock.nowMs)]).toEqual([true, false])
    expect(await ports.documents.find(document, signal)).not.toHaveProperty('expiresAt')
  })

  it('does not bring back what the resolver has deleted, if it arrives later all the same', async () => {
    const { ports, document, isSet } = await change(LEASE_MS + 1, async (ports) => {
      ports.pass(2 * LEASE_MS)
      expect(await resolve('expiry', ports)).toMatchObject({ resolved: 1 })
    })
    expect(isSet).toBe(false)
    expect(await ports.documents.find(document, signal)).toMatchObject({ state: 'gone', isExpired: true })
    expect(ports.state()).toEqual(NOTHING)
  })
})
