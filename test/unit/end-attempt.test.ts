import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import { type Progress, undoOrLeave } from '../../lib/promotion/end-attempt.ts'
import { createPorts, NOTHING, ONE_DOCUMENT, type Ports, type Step, LATE_COPY_MS } from '../support/ports.ts'
import { newDocument } from '../support/stores/ledger-values.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

replaceWaits()

const { signal } = new AbortController()
const LOST = new ServiceError('service_unavailable', { isUnanswered: true })

/** Undoes an attempt that took these steps and knows so much of them. */
async function undoAfter(ports: Ports, steps: readonly Step[], knows: Partial<Progress>) {
  const one = await ports.run(steps)
  const progress: Progress = { reservation: 'none', copy: 'none', unmarked: Promise.resolve(false), ...knows }
  return { one, outcome: await undoOrLeave(one, progress, ports.request(), ports.deps) }
}
describe('undo', () => {
  it.each<[string, readonly Step[], Partial<Progress>]>([
    ['its bytes were taken', ['take'], {}],
    ['its bytes may have been taken, and were not', [], {}],
    ['its reservation was open', ['take', 'open'], { reservation: 'open' }],
    ['it was copied', ['take', 'open', 'unmark', 'copy'], { reservation: 'open', copy: 'answered' }],
    ['it was copied and its marker stood', ['take', 'open', 'copy'], { reservation: 'open', copy: 'answered' }],
    ['its opening was not answered, and had arrived', ['take', 'open'], { reservation: 'unknown' }],
    [
      'it was copied beside an opening that was not answered, and had arrived',
      ['take', 'open', 'copy'],
      { reservation: 'unknown', copy: 'answered' },
    ],
  ])('gives back at once what it took when %s', async (_, steps, knows) => {
    const ports = createPorts()
    await ports.addDocument()
    expect((await undoAfter(ports, steps, knows)).outcome).toBe('undone')
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it.each<[string, Step[], Progress['copy']]>([
    ['before its copy', ['take'], 'none'],
    ['beside its copy', ['take', 'copy'], 'answered'],
  ])('keeps an opening out that was not answered and may yet arrive, %s', async (_, steps, copy) => {
    const ports = createPorts()
    const { one, outcome } = await undoAfter(ports, steps, { reservation: 'unknown', copy })
    expect(outcome).toBe('undone')
    expect(ports.state()).toEqual({ ...NOTHING, reservations: 1 })
    expect(await ports.reservations.open(one, signal)).toMatchObject({ outcome: 'in_progress' })
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('touches nothing while another attempt stands where its opening may yet arrive', async () => {
    const ports = createPorts()
    const other = await ports.run(['take', 'open', 'unmark'])
    const one = ports.begin({ documentId: other.documentId })
    await ports.run(['take'], one)
    const progress: Progress = { reservation: 'unknown', copy: 'none', unmarked: Promise.resolve(false) }
    expect(await undoOrLeave(one, progress, ports.request(), ports.deps)).toBe('left_to_resolver')
    expect(ports.state()).toMatchObject({ used: 200, markers: 1, reservations: 1 })
    expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', attempt_id: one.attemptId }))
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('finds that its record has arrived: nothing is taken back', async () => {
    const ports = createPorts()
    const knows = { reservation: 'open', copy: 'answered' } as const
    const { outcome } = await undoAfter(ports, ['take', 'open', 'unmark', 'copy', 'record'], knows)
    expect(outcome).toBe('recorded')
    expect(ports.state()).toEqual({ ...ONE_DOCUMENT, reservations: 1 })
  })

  it('keeps out a record that may yet arrive', async () => {
    const ports = createPorts()
    const { one } = await undoAfter(ports, ['take', 'open', 'unmark', 'copy'], {
      reservation: 'open',
      copy: 'answered',
    })
    expect(await ports.documents.record(newDocument(one), signal)).toBe('fenced')
  })

  it.each<[string, readonly Step[], Progress['reservation']]>([
    ['its reservation was open', ['take', 'open', 'unmark'], 'open'],
    ['its opening was not answered', ['take'], 'unknown'],
  ])('has the object of a copy removed that arrives late, when %s', async (_, steps, reservation) => {
    const ports = createPorts()
    const { one, outcome } = await undoAfter(ports, steps, { reservation, copy: 'unanswered' })
    expect(outcome).toBe('undone')
    expect(ports.state()).toMatchObject({ used: 0, markers: 0 })
    expect(ports.lateCopies()).toEqual([one.attemptId])
    ports.pass(LATE_COPY_MS - 1)
    ports.putObject(one)
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('puts no watch over the object of a document that turns out to be recorded', async () => {
    const ports = createPorts()
    const knows = { reservation: 'open', copy: 'unanswered' } as const
    const { outcome } = await undoAfter(ports, ['take', 'open', 'unmark', 'copy', 'record'], knows)
    expect(outcome).toBe('recorded')
    expect(ports.lateCopies()).toEqual([])
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('does nothing until the write that removes its marker has ended', async () => {
    const ports = createPorts()
    const one = await ports.run(['take', 'open', 'copy'])
    let end = (_isUnmarked: boolean) => {}
    const unmarked = new Promise<boolean>((resolve) => {
      end = resolve
    })
    const fence = vi.spyOn(ports.documents, 'fence')
    const undoing = undoOrLeave(one, { reservation: 'open', copy: 'answered', unmarked }, ports.request(), ports.deps)
    await new Promise((resolve) => setImmediate(resolve))
    expect(fence).not.toHaveBeenCalled()
    end(true)
    expect(await undoing).toBe('undone')
    expect(ports.state()).toEqual(NOTHING)
  })

  it.each([
    'reservations.forestall',
    'documents.fence',
    'reservations.watch',
    'ledger.unmark',
    'objects.discard',
    'ledger.mark',
    'reservations.close',
    'ledger.release',
    'reservations.remove',
  ] as const)('leaves the rest to the resolver when %s fails, before or after it was applied', async (step) => {
    const [port, method] = step.split('.') as ['ledger', string]
    for (const when of ['before', 'after']) {
      const ports = createPorts()
      await ports.addDocument()
      const one = await ports.run(['take', 'open', 'unmark', 'copy'])
      const target = ports[port] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
      const original = target[method]?.bind(target)
      const failing = vi.spyOn(target, method).mockImplementation(async (...args) => {
        if (when === 'after') await original?.(...args)
        throw LOST
      })
      const progress: Progress = { reservation: 'unknown', copy: 'unanswered', unmarked: Promise.resolve(true) }
      expect([when, await undoOrLeave(one, progress, ports.request(), ports.deps)]).toEqual([when, 'left_to_resolver'])
      expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', error: LOST }))
      failing.mockRestore()
      await ports.resolveAll()
      expect([when, ports.state()]).toEqual([when, ONE_DOCUMENT])
    }
  })
})
