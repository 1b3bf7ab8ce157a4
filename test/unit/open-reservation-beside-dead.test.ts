import { describe, expect, it, vi } from 'vitest'
import { type Progress, undoOrLeave } from '../../lib/promotion/end-attempt.ts'
import type { OpenReservation, Reservation } from '../../lib/promotion/reservations.ts'
import { DEAD_AFTER_MS, LOST, newProgress, open, rows, twinOf } from '../support/maintenance/opening-reservations.ts'
import { ALL_STEPS, createPorts, NOTHING, ONE_DOCUMENT, WATCH_MS, WORKSPACE } from '../support/ports.ts'
import { newDocument } from '../support/stores/ledger-values.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

replaceWaits()

const { signal } = new AbortController()
describe('fixed: openReservation beside a twin that must be dead', () => {
  it.each([
    ['had not copied', ['take', 'open', 'unmark']],
    ['had copied', ['take', 'open', 'unmark', 'copy']],
    ['had copied while its marker stood', ['take', 'open', 'copy']],
  ] as const)('takes its place when it %s, gives its bytes back and watches for its copy', async (_, steps) => {
    const ports = createPorts()
    const dead = await ports.run(steps)
    ports.pass(DEAD_AFTER_MS)
    const one = await twinOf(ports, dead)
    expect(await open(ports, one)).toMatchObject({ error: undefined, progress: { reservation: 'open' } })
    expect(ports.state()).toEqual({ used: 100, markers: 1, reservations: 1, documents: 0, objects: 0 })
    expect(rows(ports)).toEqual(
      expect.arrayContaining([
        ['promotion', one.attemptId],
        ['late_copy', dead.attemptId],
      ]),
    )
    // The dead attempt cannot come back, and what it copies late is deleted.
    expect(await ports.documents.record(newDocument(dead), signal)).toBe('fenced')
    ports.putObject(dead)
    await ports.run(['unmark', 'copy', 'record', 'settle'], one)
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('watches for as long as S3 may take', async () => {
    const ports = createPorts()
    const dead = await ports.run(['take', 'open', 'unmark'])
    ports.pass(DEAD_AFTER_MS)
    await open(ports, await twinOf(ports, dead))
    const watch = [...ports.reservations.items.values()].find(({ purpose }) => purpose === 'late_copy')
    expect(watch).toMatchObject({ leaseExpiresAtMs: ports.clock.nowMs + WATCH_MS } satisfies Partial<OpenReservation>)
  })

  it('settles it when it had recorded, and watches nothing: the object is the document’s', async () => {
    const ports = createPorts()
    const dead = await ports.run(ALL_STEPS)
    ports.pass(DEAD_AFTER_MS)
    const one = await twinOf(ports, dead)
    expect((await open(ports, one)).error).toBeUndefined()
    expect(rows(ports)).toEqual([['promotion', one.attemptId]])
    expect(await ports.documents.record(newDocument(one), signal)).toBe('taken')
    const progress: Progress = { ...newProgress(), reservation: 'open' }
    expect(await undoOrLeave(one, progress, ports.request(), ports.deps)).toBe('undone')
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('lets one of many take over', async () => {
    const ports = createPorts()
    const dead = await ports.run(['take', 'open', 'unmark', 'copy'])
    ports.pass(DEAD_AFTER_MS)
    const twins = await Promise.all(Array.from({ length: 5 }, () => twinOf(ports, dead)))
    const outcomes = await Promise.all(twins.map((each) => open(ports, each)))
    for (const [index, { error, progress }] of outcomes.entries()) {
      if (error === undefined) continue
      expect(error).toMatchObject({ reason: 'promotion_in_progress' })
      await undoOrLeave(twins[index] as Reservation, progress, ports.request(), ports.deps)
    }
    expect(outcomes.filter(({ error }) => error === undefined)).toHaveLength(1)
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it.each([
    'documents.fence',
    'reservations.watch',
    'ledger.unmark',
    'objects.discard',
    'ledger.mark',
    'reservations.close',
    'ledger.release',
    'reservations.remove',
  ] as const)('leaves what it has begun to the resolver when %s fails, its own bytes as well', async (step) => {
    const [port, method] = step.split('.') as ['ledger', string]
    for (const when of ['before', 'after']) {
      const ports = createPorts()
      await ports.addDocument()
      const dead = await ports.run(['take', 'open', 'copy'])
      ports.pass(DEAD_AFTER_MS)
      const one = await twinOf(ports, dead)
      const target = ports[port] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
      const original = target[method]?.bind(target)
      const failing = vi.spyOn(target, method).mockImplementation(async (...args) => {
        if (when === 'after') await original?.(...args)
        throw LOST
      })
      const { error, progress } = await open(ports, one)
      expect([when, error]).toEqual([when, LOST])
      failing.mockRestore()
      const isInTheWay = rows(ports).some(
        ([purpose, attemptId]) => purpose === 'promotion' && attemptId === dead.attemptId,
      )
      await undoOrLeave(one, progress, ports.request(), ports.deps)
      // Its marker keeps the workspace due, so that what arrives late of the rest is found.
      const isMarked = ports.ledger.workspaces.get(WORKSPACE)?.takings.has(one.attemptId)
      expect([when, isMarked]).toEqual([when, isInTheWay])
      await ports.resolveAll()
      expect([when, ports.state()]).toEqual([when, ONE_DOCUMENT])
    }
  })
})
