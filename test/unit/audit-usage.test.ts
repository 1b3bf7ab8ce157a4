import { describe, expect, it } from 'vitest'
import { endUsage } from '../../lib/maintenance/audit-usage.ts'
import { deleteDocument } from '../../lib/promotion/delete-document.ts'
import { undo } from '../../lib/promotion/end-attempt.ts'
import type { Reservation } from '../../lib/promotion/reservations.ts'
import { addUp, begin, countMore, passBy, readRows } from '../support/add-up.ts'
import { ALL_STEPS, createPorts, type Ports, type Step } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()

const PREFIXES: Step[][] = [
  ['take'],
  ['take', 'open'],
  ['take', 'open', 'unmark'],
  ['take', 'open', 'unmark', 'copy', 'record'],
  ['take', 'open', 'copy', 'record'],
  [...ALL_STEPS, 'settle'],
]

/** What may become of an attempt that has come so far: its end, as a process of its own or the resolver makes it. */
const FATES: Record<string, (ports: Ports, one: Reservation, done: Step[]) => Promise<unknown>> = {
  stays: async () => {},
  'is settled': async (ports, one, done) => {
    const left = [...ALL_STEPS, 'settle' as const].filter((step) => !done.includes(step))
    await ports.run(left, one)
  },
  'is undone': async (ports, one, done) => {
    if (!done.includes('open')) await ports.ledger.release(one, signal)
    else await undo(one, { mayCopyArrive: false }, ports.deps, signal)
  },
  'is settled and deleted': async (ports, one, done) => {
    await FATES['is settled']?.(ports, one, done)
    await deleteDocument({ workspaceId: one.workspaceId, documentId: one.documentId }, ports.deps, signal)
  },
  'is retired': async (ports, one, done) => {
    await FATES['is settled']?.(ports, one, done)
    await ports.documents.retire(one, signal)
  },
  'is deleted, and promoted again in vain': async (ports, one, done) => {
    await FATES['is settled and deleted']?.(ports, one, done)
    const again = await ports.run(ALL_STEPS, ports.begin({ documentId: one.documentId }))
    await undo(again, { mayCopyArrive: false }, ports.deps, signal)
  },
}

const CASES = PREFIXES.flatMap((steps) => Object.keys(FATES).map((fate) => ({ steps, fate })))

describe('adding up a workspace while it goes on', () => {
  it.each(CASES)('counts an attempt cut after $steps, that $fate, once', async ({ steps, fate }) => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await ports.run(steps)
    expect(
      await addUp(ports, async () => {
        await FATES[fate]?.(ports, one, steps)
        await passBy(ports)
      }),
    ).toEqual({ outcome: 'agrees' })
  })

  it.each(CASES)('sees drift beside an attempt cut after $steps, that $fate', async ({ steps, fate }) => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await ports.run(steps)
    countMore(ports, 7)
    const result = await addUp(ports, async () => {
      await FATES[fate]?.(ports, one, steps)
      await passBy(ports)
    })
    expect(result).toMatchObject({ outcome: 'drift' })
    if (result.outcome !== 'drift') return
    expect(result.usedBytes - result.expectedBytes).toBe(7)
    await passBy(ports)
    for (let times = 0; times < 2; times++) expect(await result.correct()).toBe(true)
    expect((await addUp(ports)).outcome).toBe('agrees')
  })

  it.each(Object.keys(FATES))('does not count an attempt that begins after the cut and %s', async (fate) => {
    const ports = createPorts()
    await ports.addDocument()
    const state = await begin(ports)
    const steps: Step[] = ['take', 'open', 'unmark']
    await FATES[fate]?.(ports, await ports.run(steps), steps)
    expect((await endUsage(await readRows(ports, state), ports.deps, signal)).outcome).toBe('agrees')
  })

  it.each<{ at: number }>([0, 1, 2, 3, 4, 5].map((at) => ({ at })))(
    'counts a document whose deletion is cut after $at of its steps, as long as its bytes are counted',
    async ({ at }) => {
      const ports = createPorts()
      await ports.addDocument()
      const one = ports.begin()
      await ports.run([...ALL_STEPS, 'settle'], one)
      const release = { ...newRelease(one, 'deletion'), markedIn: 0 }
      const { ledger, documents } = ports
      const steps = [
        () => documents.retire(one, signal),
        async () => Object.assign(release, await ledger.mark(release, signal)),
        () => documents.close(release, signal),
        () => ledger.release(release, signal),
        () => documents.finish(release, signal),
      ]
      for (const step of steps.slice(0, at)) await step()
      const rest = steps.slice(at)
      // Each later step alone, and then the rows: the sum is the same whenever they are read.
      for (let later = 0; later <= rest.length; later++) {
        const state = await begin(ports)
        if (later > 0) await rest[later - 1]?.()
        await passBy(ports)
        expect((await endUsage(await readRows(ports, state), ports.deps, signal)).outcome).toBe('agrees')
      }
    },
  )
})
