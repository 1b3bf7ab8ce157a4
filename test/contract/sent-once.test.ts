import { describe, expect, it } from 'vitest'
import { LOST } from '../support/faults/aws-failures.ts'
import {
  FAILED,
  FAILED_AFTER,
  THROTTLED,
  useBrokenWrites,
  type WriteFault,
} from '../support/faults/use-broken-writes.ts'
import { newDocument, newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const on = useBrokenWrites()
const { plan, writes } = on

describe('a write that opens something', () => {
  interface Opening {
    open(): Promise<unknown>
    /** Whether it has taken effect. */
    isOpen(): Promise<boolean>
    /** Whether it checks what became of the write, and so succeeds when that has taken effect. */
    looks?: boolean
  }
  const openings: Record<string, () => Opening> = {
    'ledger.take': () => ({
      open: () => on.ports.ledger.take(on.one, signal),
      isOpen: async () => (await on.calm.ledger.read(on.workspaceId, signal))?.takings.length === 1,
    }),
    'ledger.mark': () => ({
      open: () => on.ports.ledger.mark(newRelease(on.one, 'deletion'), signal),
      isOpen: async () => (await on.calm.ledger.read(on.workspaceId, signal))?.releases.length === 1,
    }),
    'reservations.claim': () => ({
      open: () => on.ports.reservations.claim(on.one, signal),
      isOpen: async () => (await on.calm.reservations.find(on.one, signal))?.purpose === 'claim',
    }),
    'reservations.open': () => ({
      open: () => on.ports.reservations.open(on.one, false, signal),
      isOpen: async () => (await on.calm.reservations.find(on.one, signal))?.purpose === 'promotion',
    }),
    'documents.record': () => ({
      open: () => on.ports.documents.record(newDocument(on.one), signal),
      isOpen: async () => (await on.calm.documents.find(on.workspaceId, on.one.documentId, signal)) !== undefined,
    }),
    'administration.setQuota': () => ({
      open: () => on.ports.ledger.setQuota(on.workspaceId, 5000, signal),
      isOpen: async () => (await on.calm.ledger.usage(on.workspaceId, signal))?.quotaBytes === 5000,
      looks: true,
    }),
    'ledgers.correct, where there is no ledger': () => ({
      open: () => on.ports.ledger.correct(on.unknownId, { usedBytes: 0, expectedBytes: 77 }, signal),
      isOpen: async () => (await on.calm.ledger.usage(on.unknownId, signal))?.usedBytes === 77,
    }),
  }

  describe.each(Object.keys(openings))('%s', (name) => {
    const opening = () => (openings[name] as () => Opening)()

    it.each<[string, WriteFault, { isUnanswered: boolean; isOpen: boolean }]>([
      ['its answer is lost', LOST, { isUnanswered: true, isOpen: true }],
      ['its connection breaks', { kind: 'refuse' }, { isUnanswered: true, isOpen: false }],
      ['nothing answers', { kind: 'hang' }, { isUnanswered: true, isOpen: false }],
      ['it is answered with 500', FAILED, { isUnanswered: false, isOpen: false }],
      ['it is answered with 500, having taken effect', FAILED_AFTER, { isUnanswered: false, isOpen: true }],
    ])('is not sent again when %s', async (_, fault, { isUnanswered, isOpen }) => {
      const { open, isOpen: isNowOpen, looks } = opening()
      plan.push(fault)
      if (looks && isOpen) await open()
      else await expect(open()).rejects.toMatchObject({ reason: 'service_unavailable', isUnanswered })
      expect(writes()).toBe(1)
      expect(await isNowOpen()).toBe(isOpen)
    })

    it('takes effect late, once, when it was held up and given up', async () => {
      const { open, isOpen } = opening()
      plan.push({ kind: 'late' })
      await expect(open()).rejects.toMatchObject({ isUnanswered: true })
      expect(await isOpen()).toBe(false)
      await on.broken.deliverLate()
      expect(await isOpen()).toBe(true)
      expect(writes()).toBe(1)
    })

    it('is tried again when it was throttled, which says that nothing happened', async () => {
      const { open, isOpen } = opening()
      plan.push(THROTTLED, THROTTLED)
      const crowded = { 'ledger.take': { outcome: 'crowded' }, 'ledger.mark': 'crowded' }[name]
      // By the rules of the caller: others wait for the same item.
      for (let times = 1; crowded && times <= 2; times++) {
        expect(await open()).toEqual(crowded)
        expect(writes()).toBe(times)
      }
      await open()
      expect(writes()).toBe(3)
      expect(await isOpen()).toBe(true)
    })
  })
})
