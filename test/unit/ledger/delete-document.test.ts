import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../lib/errors.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import { createPorts, NOTHING, ONE_DOCUMENT, type Ports } from '../../support/ports.ts'
import { newRelease } from '../../support/stores/ledger-values.ts'
import { resolve } from '../../support/unit/resolving.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'

replaceWaits()

const { signal } = new AbortController()
const remove = ({ deps }: Ports, one: Parameters<typeof deleteDocument>[0]) => deleteDocument(one, deps, signal)

describe('deleteDocument', () => {
  it('takes record, object and bytes away, tells what it was, and can be repeated', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const document = await ports.addDocument()
    expect(await remove(ports, document)).toEqual({ document, usage: { quotaBytes: 1000, usedBytes: 100 } })
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    expect(await remove(ports, document)).toBeUndefined()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('settles first what a lost settle has left, marker and reservation: the bytes are given back once', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await ports.run(['take', 'reserve', 'copy', 'record'])
    expect(await remove(ports, one)).toMatchObject({ usage: { usedBytes: 100 } })
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    ports.pass()
    await resolve(ports)
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('leaves the reservation of a twin alone that came too late', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    const twin = await ports.run(['take', 'reserve', 'unmark'], ports.begin({ documentId: document.documentId }))
    await remove(ports, document)
    expect(ports.state()).toEqual({ ...NOTHING, used: 100, reservations: 1 })
    expect(await ports.reservations.find(twin, signal)).toMatchObject({ attemptId: twin.attemptId })
  })

  it('leaves what fails to the resolver, counted until the object has gone', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    vi.spyOn(ports.objects, 'discard').mockRejectedValueOnce(new Error('refused'))
    await expect(remove(ports, document)).rejects.toThrow('refused')
    expect(ports.state()).toEqual({ used: 100, markers: 0, reservations: 1, documents: 0, objects: 1 })
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })
})

describe('fixed: a deletion that is held up beyond its lease', () => {
  it('gives its bytes back once when it marks again after its first marker had been resolved', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const document = await ports.addDocument()
    const mark = ports.ledger.mark.bind(ports.ledger)
    vi.spyOn(ports.ledger, 'mark').mockImplementationOnce(async (...args) => {
      await mark(...args)
      ports.pass()
      await resolve(ports)
      throw new ServiceError('service_unavailable', { isUnanswered: true })
    })
    expect(await remove(ports, document)).toEqual({ document, usage: undefined })
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('does nothing with a marker of an earlier try that arrives when all is over', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const document = await ports.addDocument()
    await remove(ports, document)
    await ports.ledger.mark(newRelease(document, 'deletion', { leaseExpiresAtMs: ports.clock.nowMs }), signal)
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })
})
