import { describe, expect, it } from 'vitest'
import { LEDGER_SETTINGS, newRelease } from '../support/stores/ledger-values.ts'
import { useStoredItems } from '../support/stores/use-stored-items.ts'

// Never reached, however busy the machine.
const signal = AbortSignal.timeout(900_000)
const items = useStoredItems()
const { reservation } = items

function open() {
  const { ledger, removal } = items.open()
  return { ledger, removal, versionOf: async () => (await ledger.read(items.workspaceId, signal))?.version }
}

describe('the removal of a workspace', () => {
  it('takes an empty one away: then it is as one that was never seen', async () => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(items.workspaceId, 500, signal)
    expect(await removal.remove(items.workspaceId, await versionOf(), signal)).toBe(true)
    expect(await ledger.read(items.workspaceId, signal)).toBeUndefined()
    const taken = await ledger.take(reservation(), signal)
    expect(taken).toMatchObject({ outcome: 'taken', usage: { quotaBytes: LEDGER_SETTINGS.defaultQuotaBytes } })
  })

  it('may be repeated, and is fine with one that was never there', async () => {
    const { ledger, versionOf, removal } = open()
    expect(await removal.remove(items.workspaceId, undefined, signal)).toBe(true)
    await ledger.create(items.workspaceId, 500, signal)
    const version = await versionOf()
    expect(await removal.remove(items.workspaceId, version, signal)).toBe(true)
    expect(await removal.remove(items.workspaceId, version, signal)).toBe(true)
  })

  it.each<[string, (ledger: ReturnType<typeof open>['ledger']) => Promise<unknown>, seen?: 'before' | 'never']>([
    [
      'counts bytes',
      async (ledger) => {
        const counted = reservation()
        await ledger.take(counted, signal)
        await ledger.unmark(counted, signal)
      },
    ],
    ['has a taking under way', (ledger) => ledger.take(reservation(), signal)],
    ['has a taking under way that weighs nothing', (ledger) => ledger.take(reservation({ sizeBytes: 0 }), signal)],
    [
      'has a release under way that weighs nothing',
      (ledger) => ledger.mark(newRelease(reservation({ sizeBytes: 0 }), 'deletion'), signal),
    ],
    [
      'changed since it was looked at, although it is empty again',
      async (ledger) => {
        const one = reservation()
        await ledger.take(one, signal)
        await ledger.giveBack(one, signal)
      },
      'before',
    ],
    ['was made after none was seen', async () => {}, 'never'],
  ])('refuses one that %s, and changes nothing', async (_, change, seen) => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(items.workspaceId, 500, signal)
    const made = await versionOf()
    await change(ledger)
    const before = await ledger.read(items.workspaceId, signal)
    const version = seen === 'before' ? made : seen === 'never' ? undefined : before?.version
    expect(await removal.remove(items.workspaceId, version, signal)).toBe(false)
    expect(await ledger.read(items.workspaceId, signal)).toEqual(before)
  })

  it('loses to a promotion or wins against it, and never takes counted bytes away', async () => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(items.workspaceId, 500, signal)
    const version = await versionOf()
    const one = reservation()
    const [isRemoved, taken] = await Promise.all([
      removal.remove(items.workspaceId, version, signal),
      ledger.take(one, signal),
    ])
    expect(taken.outcome).toBe('taken')
    expect(await ledger.read(items.workspaceId, signal)).toMatchObject({
      usedBytes: one.sizeBytes,
      quotaBytes: isRemoved ? LEDGER_SETTINGS.defaultQuotaBytes : 500,
      takings: [{ attemptId: one.attemptId }],
    })
  })
})
