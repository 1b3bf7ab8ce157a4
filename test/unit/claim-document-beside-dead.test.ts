import { describe, expect, it, vi } from 'vitest'
import { undoOrLeave } from '../../lib/promotion/end-attempt.ts'
import type { OpenReservation } from '../../lib/promotion/reservations.ts'
import { claim, DEAD_AFTER_MS, LOST, rows, twinOf } from '../support/maintenance/claiming.ts'
import { ALL_STEPS, createPorts, LATE_COPY_MS, NOTHING, ONE_DOCUMENT, type Step } from '../support/ports.ts'
import { newDocument } from '../support/stores/ledger-values.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

replaceWaits()

const { signal } = new AbortController()
const CLAIMED = { isTaken: false, reservation: 'claimed', copy: 'none', unmarked: Promise.resolve(false) } as const

describe('fixed: claimDocument beside a twin that must be dead', () => {
  it.each<[string, Step[], number]>([
    ['had claimed', ['claim'], 0],
    // The resolver gives them back, once their lease is over.
    ['had taken its bytes', ['claim', 'take'], 100],
    ['had copied beside an opening that never arrived', ['claim', 'take', 'copy'], 100],
    ['had not copied', ['claim', 'take', 'open', 'unmark'], 0],
    ['had copied', ['claim', 'take', 'open', 'unmark', 'copy'], 0],
    ['had copied while its marker stood', ['claim', 'take', 'open', 'copy'], 0],
  ])('takes its place when it %s, and notes that its copy may arrive', async (_, steps, used) => {
    const ports = createPorts()
    const dead = await ports.run(steps)
    ports.pass(DEAD_AFTER_MS)
    const one = twinOf(ports, dead)
    expect(await claim(ports, one)).toBeUndefined()
    expect(rows(ports).toSorted()).toEqual([
      ['claim', one.attemptId],
      ['late_copy', dead.attemptId],
    ])
    expect(ports.state().used).toBe(used)
    // The dead attempt cannot come back, and what it copies late is deleted.
    expect(await ports.reservations.open(dead, true, signal)).toBe('refused')
    if (steps.includes('open')) expect(await ports.documents.record(newDocument(dead), signal)).toBe('fenced')
    ports.putObject(dead)
    await ports.run(['take', 'open', 'unmark', 'copy', 'record', 'settle'], one)
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('notes the copy for as long as S3 may take', async () => {
    const ports = createPorts()
    const dead = await ports.run(['claim', 'take', 'open', 'unmark'])
    ports.pass(DEAD_AFTER_MS)
    await claim(ports, twinOf(ports, dead))
    const note = [...ports.reservations.items.values()].find(({ purpose }) => purpose === 'late_copy')
    expect(note).toMatchObject({
      leaseExpiresAtMs: ports.clock.nowMs + LATE_COPY_MS,
    } satisfies Partial<OpenReservation>)
  })

  it('settles it when it had recorded, and notes nothing: the object is the document’s', async () => {
    const ports = createPorts()
    const dead = await ports.run(['claim', ...ALL_STEPS])
    ports.pass(DEAD_AFTER_MS)
    const one = twinOf(ports, dead)
    expect(await claim(ports, one)).toBeUndefined()
    expect(rows(ports)).toEqual([['claim', one.attemptId]])
    expect(await ports.documents.record(newDocument(one), signal)).toBe('taken')
    expect(await undoOrLeave(one, CLAIMED, ports.request(), ports.deps)).toBe('undone')
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it.each<[Step[]]>([[['claim', 'take']], [['claim', 'take', 'open', 'unmark', 'copy']]])(
    'lets one of many take over from what died after %j',
    async (steps) => {
      const ports = createPorts()
      const dead = await ports.run(steps)
      ports.pass(DEAD_AFTER_MS)
      const twins = Array.from({ length: 5 }, () => twinOf(ports, dead))
      const errors = await Promise.all(twins.map((each) => claim(ports, each)))
      for (const [index, error] of errors.entries()) {
        if (error === undefined) expect(rows(ports)).toContainEqual(['claim', twins[index]?.attemptId])
        else expect(error).toMatchObject({ reason: 'promotion_in_progress' })
      }
      expect(errors.filter((error) => error === undefined)).toHaveLength(1)
      await ports.resolveAll()
      expect(ports.state()).toEqual(NOTHING)
    },
  )

  it.each([
    'documents.fence',
    'reservations.note',
    'ledger.unmark',
    'objects.discard',
    'ledger.mark',
    'reservations.close',
    'ledger.release',
    'reservations.remove',
  ] as const)('leaves what it has begun to the resolver when %s fails', async (step) => {
    const [port, method] = step.split('.') as ['ledger', string]
    for (const when of ['before', 'after']) {
      const ports = createPorts()
      await ports.addDocument()
      const dead = await ports.run(['claim', 'take', 'open', 'copy'])
      ports.pass(DEAD_AFTER_MS)
      const one = twinOf(ports, dead)
      const target = ports[port] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
      const original = target[method]?.bind(target)
      const failing = vi.spyOn(target, method).mockImplementation(async (...args) => {
        if (when === 'after') await original?.(...args)
        throw LOST
      })
      expect([when, await claim(ports, one)]).toEqual([when, LOST])
      failing.mockRestore()
      await undoOrLeave(one, CLAIMED, ports.request(), ports.deps)
      await ports.resolveAll()
      expect([when, ports.state()]).toEqual([when, ONE_DOCUMENT])
    }
  })
})
