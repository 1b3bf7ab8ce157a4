import { describe, expect, it, vi } from 'vitest'
import { undo } from '../../lib/promotion/end-attempt.ts'
import { addUp, begin, passBy } from '../support/add-up.ts'
import { createPorts, type Ports } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()

describe('the cut that a workspace is added up from', () => {
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
    expect(await addUp(ports)).toEqual({ outcome: 'agrees' })
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
    expect(await addUp(ports)).toEqual({ outcome: 'agrees' })
    expect(listing).toHaveBeenCalledTimes(1)
  })

  it('cuts again when a reservation of the cut was undone while it looked', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await ports.run(['take', 'open', 'unmark'])
    const listing = interrupt(ports, () => undo(one, { mayCopyArrive: false }, ports.deps, signal))
    expect(await addUp(ports)).toEqual({ outcome: 'agrees' })
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
    expect(await addUp(ports, () => passBy(ports))).toEqual({ outcome: 'agrees' })
    expect(listing).toHaveBeenCalledTimes(4)
  })

  it('carries little: six bytes for each attempt that is under way', async () => {
    const ports = createPorts()
    for (let i = 0; i < 1000; i++) await ports.run(['take', 'open', 'unmark'], ports.begin({ sizeBytes: 1 }))
    const state = await begin(ports)
    expect(state.cut?.underWay.ages).toHaveLength(1000)
    expect(JSON.stringify(state).length).toBeLessThan(6000)
  })
})
