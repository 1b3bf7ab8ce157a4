import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { deleteDocument } from '../../lib/promotion/delete-document.ts'
import { interruptedAt } from '../support/interrupted.ts'
import { LOST } from '../support/maintenance/claiming.ts'
import { resolve } from '../support/maintenance/resolving.ts'
import { ALL_STEPS, createPorts, NOTHING, ONE_DOCUMENT, type Ports, type Step, WORKSPACE } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

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

  it('knows no document of another workspace, and none with another object', async () => {
    const ports = createPorts()
    const { documentId } = await ports.addDocument()
    expect(await remove(ports, { workspaceId: 'ws_2' as WorkspaceId, documentId })).toBeUndefined()
    expect(await remove(ports, { workspaceId: WORKSPACE, documentId, objectKey: 'another' })).toBeUndefined()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it.each<[string, readonly Step[]]>([
    ['its reservation', ALL_STEPS],
    ['its marker and its reservation', ['take', 'open', 'copy', 'record']],
  ])('settles first what a lost settle has left, %s: the bytes are given back once', async (_, steps) => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await ports.run(steps)
    expect(await remove(ports, one)).toMatchObject({ usage: { usedBytes: 100 } })
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    ports.pass()
    await resolve(ports)
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('leaves the reservation of a twin alone that came too late', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    const twin = await ports.run(['take', 'open', 'unmark'], ports.begin({ documentId: document.documentId }))
    await remove(ports, document)
    expect(ports.state()).toEqual({ ...NOTHING, used: 100, reservations: 1 })
    expect(await ports.reservations.find(twin, signal)).toMatchObject({ attemptId: twin.attemptId })
  })

  it('gives the bytes back once when the same document is deleted again at any step of its deletion', async () => {
    for (let at = 0; ; at++) {
      const ports = createPorts()
      await ports.addDocument()
      const document = await ports.addDocument()
      const { deps, calls } = interruptedAt(at, ports.deps, async () => {
        const isCounted = ports.state().used === 200
        const other = await remove(ports, document)
        // Until the bytes are given back, each finds the document, or what is left of it, and finishes it.
        if (isCounted) expect([at, other]).toEqual([at, expect.anything()])
        expect(ports.state().used).toBe(100)
      })
      const deleted = await deleteDocument(document, deps, signal)
      if (at > 0) expect([at, deleted]).toEqual([at, expect.anything()])
      ports.pass()
      await resolve(ports)
      expect([at, ports.state()]).toEqual([at, ONE_DOCUMENT])
      if (calls() <= at) return
    }
  })

  it('gives the bytes back once when many delete the same document at once', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const document = await ports.addDocument()
    const deleted = await Promise.all(Array.from({ length: 5 }, () => remove(ports, document)))
    expect(deleted.filter((each) => each?.usage !== undefined)).toHaveLength(1)
    expect(ports.state()).toEqual(ONE_DOCUMENT)
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

describe('fixed: a deletion that is repeated after it failed', () => {
  it.each([
    'reservations.note',
    'ledger.schedule',
    'documents.retire',
    'objects.discard',
    'ledger.mark',
    'documents.close',
    'ledger.release',
    'documents.finish',
    'reservations.removeNote',
  ] as const)('at %s: finishes what the first one left, or fails as long as that fails', async (step) => {
    const [port, method] = step.split('.') as ['ledger', string]
    for (const when of ['before', 'after']) {
      const ports = createPorts()
      await ports.addDocument()
      const document = await ports.addDocument()
      const target = ports[port] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
      const original = target[method]?.bind(target)
      const failing = vi.spyOn(target, method).mockImplementation(async (...args) => {
        if (when === 'after') await original?.(...args)
        throw LOST
      })
      await expect(remove(ports, document)).rejects.toBe(LOST)
      const isCounted = () => ports.state().used === 200
      const wasCounted = isCounted()
      const again = await remove(ports, document).catch(() => 'failed')
      // It never says that the document is gone while it is counted.
      if (again !== 'failed') expect([when, isCounted()]).toEqual([when, false])
      else expect([when, isCounted()]).toEqual([when, wasCounted])
      failing.mockRestore()
      await remove(ports, document)
      expect([when, { ...ports.state(), markers: 0, reservations: 0 }]).toEqual([when, ONE_DOCUMENT])
      ports.pass()
      await resolve(ports)
      expect([when, ports.state()]).toEqual([when, ONE_DOCUMENT])
    }
  })
})

describe('fixed: a deletion that is held up beyond its lease', () => {
  it('gives its bytes back once, whatever step it is held up at while the resolver acts', async () => {
    for (let at = 0; ; at++) {
      const ports = createPorts()
      await ports.addDocument()
      const document = await ports.addDocument()
      const { deps, calls } = interruptedAt(at, ports.deps, async () => {
        ports.pass()
        await resolve(ports)
      })
      await deleteDocument(document, deps, signal)
      ports.pass()
      await resolve(ports)
      expect([at, ports.state()]).toEqual([at, ONE_DOCUMENT])
      if (calls() <= at) return
    }
  })

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
