import { expect, it } from 'vitest'
import { auditSum, beginSum, itemAdder, type UsageSum } from '../../../lib/audit/audit-usage.ts'
import type { StoredItem } from '../../../lib/audit/ports/document-maintenance.ts'
import { newReleaseId } from '../../../lib/ids.ts'
import type { WorkspaceLedger } from '../../../lib/ledger/ports/ledger.ts'
import { listenTo } from '../../support/add-up.ts'
import { createPorts, type Ports, WORKSPACE } from '../../support/ports.ts'
import { newRelease, type TestAttempt } from '../../support/stores/ledger-values.ts'

const { signal } = new AbortController()
type Steps = readonly (() => Promise<unknown>)[]

/** All that a promotion writes. */
async function promotion(ports: Ports): Promise<Steps> {
  const one = ports.begin({ sizeBytes: 1 })
  const document = { countedFrom: 0 }
  return [
    () => ports.run(['begin'], one),
    async () => Object.assign(document, await ports.run(['take'], one)),
    () => ports.run(['record'], one, document),
    () => ports.run(['unmark'], one),
  ]
}

/** All that the deletion of a document writes, from then on. */
async function deletion(ports: Ports): Promise<Steps> {
  const one: TestAttempt = ports.begin({ sizeBytes: 4 })
  await ports.addDocument(one)
  const release = newRelease(one, { releaseId: newReleaseId() })
  const { releaseId } = release
  let markedIn = 0
  return [
    () => ports.run(['delete'], one),
    async () => ({ markedIn } = (await ports.ledger.mark(release, signal, 0)) as { markedIn: number }),
    () => ports.documents.handOver(one, { releaseId, markedIn }, signal),
    () => ports.ledger.giveBack(release, signal),
    () => ports.documents.bury(one, releaseId, signal),
  ]
}

/** All orders of the steps of processes, which keep those of each in their order. @param left how many each has @yields whose turn it is */
function* ordersOf(left: readonly number[]): Generator<number[]> {
  if (left.every((count) => count === 0)) yield []
  for (const [process, count] of left.entries()) {
    if (count === 0) continue
    for (const order of ordersOf(left.with(process, count - 1))) yield [process, ...order]
  }
}

interface State {
  ledger: WorkspaceLedger | undefined
  items: StoredItem[]
}

/** The stores before the first step, and after each. */
async function statesOf(order: number[], processes: readonly Steps[], { stored }: Ports): Promise<State[]> {
  const look = (): State => ({ ledger: stored.ledgerOf(WORKSPACE), items: stored.items() })
  const left = processes.map((steps) => [...steps])
  const states = [look()]
  for (const process of order) {
    await left[process]?.shift()?.()
    states.push(look())
  }
  return states
}

/** Reads the ledger at each state, and then each item at the same or any later one. @returns how many audits there were */
async function auditAll(states: State[], { clock, deps }: Ports): Promise<number> {
  const read = async () => states.at(-1)?.ledger
  const { audit, said } = listenTo({ deps: { ...deps, ledger: { ...deps.ledger, read } } })
  let audits = 0
  const readOn = async (at: number, sum: UsageSum, after: string): Promise<void> => {
    let isOver = false
    for (const [later, { items }] of states.entries()) {
      if (later < at) continue
      const next = items.find(({ itemId }) => itemId > after)
      if (next) await readOn(later, itemAdder(sum)(sum, next), next.itemId)
      else if (!isOver) {
        isOver = true
        audits++
        await auditSum(sum, audit)
      }
    }
  }
  for (const [at, { ledger }] of states.entries()) await readOn(at, beginSum(ledger, clock.nowMs), '')
  expect(said).toEqual([])
  return audits
}

it.each<[string, string, number, number, ((ports: Ports) => Promise<Steps>)[]]>([
  ['two promotions', 'every order', 1, 70, [promotion, promotion]],
  ['a promotion and a deletion', 'every order', 1, 126, [promotion, deletion]],
  ['two promotions and a deletion', 'some orders', 6007, 15, [promotion, promotion, deletion]],
])('an audit adds up at the first try beside every step of %s, in %s', async (_, __, each, count, begin) => {
  const lengths = (await Promise.all(begin.map((one) => one(createPorts())))).map(({ length }) => length)
  const orders = Array.from(ordersOf(lengths)).filter((_order, index) => index % each === 0)
  expect(orders).toHaveLength(count)
  let audits = 0
  for (const order of orders) {
    const ports = createPorts()
    await ports.deps.workspaces.create(WORKSPACE, 1000, signal)
    const processes: Steps[] = []
    for (const one of begin) processes.push(await one(ports))
    audits += await auditAll(await statesOf(order, processes, ports), ports)
  }
  expect(audits).toBeGreaterThan(100 * count)
})
