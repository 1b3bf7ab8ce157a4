import { describe, expect, it, vi } from 'vitest'
import { beginUsage, endUsage, type UsageState, usageSum } from '../../lib/maintenance/audit-usage.ts'
import type { DocumentRow } from '../../lib/maintenance/document-maintenance.ts'
import { deleteDocument } from '../../lib/promotion/delete-document.ts'
import { undo } from '../../lib/promotion/end-attempt.ts'
import type { Reservation } from '../../lib/promotion/reservations.ts'
import { newRelease } from '../support/ledger-values.ts'
import { ALL_STEPS, createPorts, type Ports, type Step, WORKSPACE } from '../support/ports.ts'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000

const begin = ({ deps }: Ports) => beginUsage(WORKSPACE, deps, signal)

/** As if there were a slice for each row. */
async function readRows({ documents }: Ports, state: UsageState): Promise<UsageState> {
  let current = state
  for await (const row of documents.listRows(WORKSPACE, signal)) {
    current = JSON.parse(JSON.stringify(current)) as UsageState
    usageSum(current).add(row)
  }
  return current
}

/** @param meanwhile done between the cut and each reading of the rows */
async function addUp(ports: Ports, meanwhile: () => Promise<unknown> = async () => {}) {
  let state = await begin(ports)
  for (let sums = 1; ; sums++) {
    await meanwhile()
    state = await readRows(ports, state)
    const result = await endUsage(state, ports.deps, signal)
    if (result.outcome !== 'again') return { ...result, sums }
    state = result.state
  }
}

const passBy = async (ports: Ports) => {
  const one = await ports.run(['take'])
  await ports.ledger.release(one, signal)
}
const countMore = (ports: Ports, bytes: number) => {
  const workspace = ports.ledger.workspaces.get(WORKSPACE)
  if (workspace) workspace.remainingBytes -= bytes
}

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
  'is deleted, and made again': async (ports, one, done) => {
    await FATES['is settled and deleted']?.(ports, one, done)
    await ports.run([...ALL_STEPS, 'settle'], ports.begin({ documentId: one.documentId }))
  },
  'is deleted, made again, deleted and made again': async (ports, one, done) => {
    await FATES['is deleted, and made again']?.(ports, one, done)
    await deleteDocument({ workspaceId: one.workspaceId, documentId: one.documentId }, ports.deps, signal)
    await ports.run([...ALL_STEPS, 'settle'], ports.begin({ documentId: one.documentId }))
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
    ).toEqual({ outcome: 'agrees', sums: 1 })
  })

  it.each(CASES)('sees drift beside an attempt cut after $steps, that $fate', async ({ steps, fate }) => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await ports.run(steps)
    countMore(ports, 7)
    let sums = 0
    const result = await addUp(ports, async () => {
      if (sums++ === 0) await FATES[fate]?.(ports, one, steps)
      await passBy(ports)
    })
    expect(result).toMatchObject({ outcome: 'drift', sums: 2 })
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
      const release = newRelease(one, 'deletion')
      const { ledger, documents } = ports
      let retired: Awaited<ReturnType<typeof documents.retire>>
      let countedThrough: number | undefined
      const steps = [
        () => ledger.mark(release, signal),
        async () => {
          retired = await documents.retire(release, signal)
        },
        async () => {
          countedThrough = (await ledger.release(release, signal, { keepsMarker: true }))?.countedThrough
        },
        () => {
          if (!retired || countedThrough === undefined) throw new Error('not retired')
          return documents.finish(release, signal, { retired, countedThrough })
        },
        () => ledger.unmark(release, signal),
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

  /** @param meanwhile done once, between the first reading of the ledger and the listing of the reservations */
  const interrupt = (ports: Ports, meanwhile: () => Promise<unknown>) => {
    const { list } = ports.reservations
    let isDone = false
    return vi.spyOn(ports.reservations, 'list').mockImplementation(async function* (...args) {
      if (!isDone) await meanwhile()
      isDone = true
      yield* list(...args)
    })
  }

  it('does not count a reservation that is opened while it looks', async () => {
    const ports = createPorts()
    await ports.addDocument()
    interrupt(ports, () => ports.run(['take', 'open', 'unmark']))
    expect(await addUp(ports)).toEqual({ outcome: 'agrees', sums: 1 })
  })

  it('counts a reservation that a release closes while it looks, once it was marked', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await ports.run(['take', 'open', 'unmark'])
    const release = newRelease(one, 'undo')
    const listing = interrupt(ports, async () => {
      await ports.ledger.mark(release, signal)
      await ports.reservations.close(release, signal)
    })
    expect(await addUp(ports)).toEqual({ outcome: 'agrees', sums: 1 })
    expect(listing).toHaveBeenCalledTimes(1)
  })

  it('cuts again when a reservation of the cut was undone while it looked', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await ports.run(['take', 'open', 'unmark'])
    const listing = interrupt(ports, () => undo(one, { mayCopyArrive: false }, ports.deps, signal))
    expect(await addUp(ports)).toEqual({ outcome: 'agrees', sums: 1 })
    expect(listing).toHaveBeenCalledTimes(2)
  })

  it('cuts again each time that any reservation was undone while it looked', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const { list } = ports.reservations
    let undone = 0
    const listing = vi.spyOn(ports.reservations, 'list').mockImplementation(async function* (...args) {
      const one = undone < 3 ? await ports.run(['take', 'open', 'unmark']) : undefined
      if (one && undone++ < 3) await undo(one, { mayCopyArrive: false }, ports.deps, signal)
      yield* list(...args)
    })
    expect(await addUp(ports, () => passBy(ports))).toEqual({ outcome: 'agrees', sums: 1 })
    expect(listing).toHaveBeenCalledTimes(4)
  })

  it('gives up, and says so, where that never ends', async () => {
    const ports = createPorts()
    const { list } = ports.reservations
    vi.spyOn(ports.reservations, 'list').mockImplementation(async function* (...args) {
      const one = await ports.run(['take', 'open', 'unmark'])
      await undo(one, { mayCopyArrive: false }, ports.deps, signal)
      yield* list(...args)
    })
    expect(await addUp(ports)).toEqual({ outcome: 'not_added_up', reason: 'restless', sums: 1 })
  })

  it('takes no document for drift that was recorded without saying since when it is counted', async () => {
    const ports = createPorts()
    const one = ports.begin()
    await ports.run(['take'], one)
    delete one.countedFrom
    await ports.run(['open', 'unmark', 'copy', 'record', 'settle'], one)
    expect((await addUp(ports)).outcome).toBe('agrees')
    const document = [...ports.documents.documents.values()][0]
    if (!document) throw new Error('no document')
    document.createdAt = new Date(ports.clock.nowMs)
    expect(await addUp(ports, () => passBy(ports))).toMatchObject({ outcome: 'not_added_up', reason: 'older_release' })
    ports.pass(HOUR_MS + 1)
    expect((await addUp(ports, () => passBy(ports))).outcome).toBe('agrees')
  })

  it.each<[string, DocumentRow['counted'][number], (nowMs: number) => object]>([
    ['an unfinished deletion', { state: 'untold' }, () => ({})],
    ['a deletion of just now', { state: 'untold', finishedAtMs: 0 }, (nowMs) => ({ finishedAtMs: nowMs })],
    ['more deletions of one id than there is room for', { state: 'forgotten', countedThrough: 0 }, () => ({})],
  ])('does not guess what is not told: %s', async (what, entry, change) => {
    const ports = createPorts()
    await ports.addDocument()
    const state = await begin(ports)
    const told = what.startsWith('more') ? { countedThrough: state.cut?.version } : change(ports.clock.nowMs)
    usageSum(state).add({ documentId: 'file_1' as never, counted: [{ ...entry, ...told } as typeof entry] })
    await passBy(ports)
    const result = await endUsage(await readRows(ports, state), ports.deps, signal)
    expect(result).toEqual({ outcome: 'not_added_up', reason: 'older_release' })
  })

  it('does not trust tombstones that are nearly a day old', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const state = await begin(ports)
    await passBy(ports)
    ports.pass(20 * HOUR_MS + 1)
    const result = await endUsage(await readRows(ports, state), ports.deps, signal)
    expect(result).toEqual({ outcome: 'not_added_up', reason: 'too_slow' })
  })

  it.each([
    ['came', async ({ ledger }: Ports) => void ledger.workspaces.delete(WORKSPACE), passBy],
    ['went', async () => {}, async ({ ledger }: Ports) => void ledger.workspaces.delete(WORKSPACE)],
    [
      'was brought back from a backup',
      async () => {},
      async ({ ledger }: Ports) => {
        const workspace = ledger.workspaces.get(WORKSPACE)
        if (workspace) workspace.version -= 3
      },
    ],
  ])('does not compare with a ledger that %s meanwhile', async (_, before, meanwhile) => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.addDocument()
    await before(ports)
    const result = await addUp(ports, () => meanwhile(ports))
    expect(result).toMatchObject({ outcome: 'not_added_up', reason: 'ledger_replaced' })
  })

  it('compares with a ledger from a backup when nothing goes on', async () => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.addDocument()
    const workspace = ports.ledger.workspaces.get(WORKSPACE)
    Object.assign(workspace ?? {}, { version: 1, remainingBytes: 900 })
    const result = await addUp(ports)
    expect(result).toMatchObject({ outcome: 'drift', usedBytes: 100, expectedBytes: 200, sums: 1 })
    if (result.outcome === 'drift') expect(await result.correct()).toBe(true)
    expect((await addUp(ports)).outcome).toBe('agrees')
  })

  it('calls nothing drift that is another one at each cut', async () => {
    const ports = createPorts()
    await ports.addDocument()
    countMore(ports, 7)
    const result = await addUp(ports, async () => {
      countMore(ports, 7)
      await passBy(ports)
    })
    expect(result).toEqual({ outcome: 'not_added_up', reason: 'inconsistent', sums: 3 })
  })

  it('carries little: six bytes for each attempt that is under way', async () => {
    const ports = createPorts()
    for (let i = 0; i < 1000; i++) await ports.run(['take', 'open', 'unmark'], ports.begin({ sizeBytes: 1 }))
    const state = await begin(ports)
    expect(state.cut?.underWay.ages).toHaveLength(1000)
    expect(JSON.stringify(state).length).toBeLessThan(6000)
  })
})
