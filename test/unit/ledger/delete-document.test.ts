import { describe, expect, it } from 'vitest'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import { createPorts, NOTHING, ONE_DOCUMENT, type Ports } from '../../support/ports.ts'

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

  it('leaves the reservation of a twin alone that came too late', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    const twin = await ports.run(['take', 'reserve', 'unmark'], ports.begin({ documentId: document.documentId }))
    await remove(ports, document)
    expect(ports.state()).toEqual({ ...NOTHING, used: 100, reservations: 1 })
    expect(await ports.reservations.find(twin, signal)).toMatchObject({ attemptId: twin.attemptId })
  })
})
