import { beforeEach, describe, expect, it } from 'vitest'
import { createLedgerMaintenance } from '../../lib/aws/ledger-maintenance.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { createWorkspaceAdministration } from '../../lib/aws/workspace-administration.ts'
import { createWorkspaceRemoval } from '../../lib/aws/workspace-removal.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { useDynamoDbBehindFaults } from '../support/faults/dynamodb-behind-faults.ts'
import type { Fault } from '../support/faults/fault-proxy.ts'
import { LEDGER_SETTINGS, newRelease, newReservation, newWorkspaceId } from '../support/stores/ledger-values.ts'

// Never reached, however busy the machine.
const signal = AbortSignal.timeout(900_000)
const used = useDynamoDbBehindFaults()
let workspaceId: WorkspaceId

beforeEach(() => {
  workspaceId = newWorkspaceId()
})

/** The ledger without faults; the removal through a client whose calls can be broken. */
function open() {
  const settings = {
    ...LEDGER_SETTINGS,
    client: used.stores.dynamoDb,
    tableName: used.stores.config.workspacesTable,
  }
  const ledger = {
    ...createQuotaLedger(settings),
    ...createLedgerMaintenance(settings),
    ...createWorkspaceAdministration(settings),
  }
  const versionOf = async () => (await ledger.read(workspaceId, signal))?.version
  return { ledger, versionOf, removal: createWorkspaceRemoval({ ...settings, client: used.broken.client }) }
}

describe('the removal of a workspace', () => {
  it('takes an empty one away: then it is as one that was never seen', async () => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(workspaceId, 500, signal)
    expect(await removal.remove(workspaceId, await versionOf(), signal)).toBe(true)
    expect(await ledger.read(workspaceId, signal)).toBeUndefined()
    const taken = await ledger.take(newReservation({ workspaceId }), signal)
    expect(taken).toMatchObject({ outcome: 'taken', usage: { quotaBytes: LEDGER_SETTINGS.defaultQuotaBytes } })
  })

  it('takes one away that was used and given back, whole', async () => {
    const { ledger, versionOf, removal } = open()
    const reservation = newReservation({ workspaceId })
    await ledger.take(reservation, signal)
    await ledger.release(reservation, signal)
    expect(await removal.remove(workspaceId, await versionOf(), signal)).toBe(true)
    expect(await ledger.read(workspaceId, signal)).toBeUndefined()
  })

  it('may be repeated, and is fine with one that was never there', async () => {
    const { ledger, versionOf, removal } = open()
    expect(await removal.remove(workspaceId, undefined, signal)).toBe(true)
    await ledger.create(workspaceId, 500, signal)
    const version = await versionOf()
    expect(await removal.remove(workspaceId, version, signal)).toBe(true)
    expect(await removal.remove(workspaceId, version, signal)).toBe(true)
  })

  it.each<[string, (ledger: ReturnType<typeof open>['ledger']) => Promise<unknown>]>([
    [
      'counts bytes',
      async (ledger) => {
        const counted = newReservation({ workspaceId })
        await ledger.take(counted, signal)
        await ledger.unmark(counted, signal)
      },
    ],
    ['has a taking under way', (ledger) => ledger.take(newReservation({ workspaceId }), signal)],
    [
      'has a taking under way that weighs nothing',
      (ledger) => ledger.take(newReservation({ workspaceId, sizeBytes: 0 }), signal),
    ],
    [
      'has a release under way that weighs nothing',
      (ledger) => ledger.mark(newRelease(newReservation({ workspaceId, sizeBytes: 0 }), 'deletion'), signal),
    ],
  ])('refuses one that %s, and changes nothing', async (_, change) => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(workspaceId, 500, signal)
    await change(ledger)
    const before = await ledger.read(workspaceId, signal)
    expect(await removal.remove(workspaceId, await versionOf(), signal)).toBe(false)
    expect(await ledger.read(workspaceId, signal)).toEqual(before)
  })

  it('refuses one that changed since it was looked at, although it is empty again', async () => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(workspaceId, 500, signal)
    const version = await versionOf()
    const reservation = newReservation({ workspaceId })
    await ledger.take(reservation, signal)
    await ledger.release(reservation, signal)
    expect(await removal.remove(workspaceId, version, signal)).toBe(false)
    expect(await ledger.read(workspaceId, signal)).toMatchObject({ quotaBytes: 500, usedBytes: 0 })
  })

  it('refuses one that was made after none was seen', async () => {
    const { ledger, removal } = open()
    await ledger.create(workspaceId, 500, signal)
    expect(await removal.remove(workspaceId, undefined, signal)).toBe(false)
    expect(await ledger.read(workspaceId, signal)).toMatchObject({ quotaBytes: 500 })
  })

  it('loses to a promotion or wins against it, and never takes counted bytes away', async () => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(workspaceId, 500, signal)
    const version = await versionOf()
    const reservation = newReservation({ workspaceId })
    const [isRemoved, taken] = await Promise.all([
      removal.remove(workspaceId, version, signal),
      ledger.take(reservation, signal),
    ])
    expect(taken.outcome).toBe('taken')
    expect(await ledger.read(workspaceId, signal)).toMatchObject({
      usedBytes: reservation.sizeBytes,
      quotaBytes: isRemoved ? LEDGER_SETTINGS.defaultQuotaBytes : 500,
      takings: [{ attemptId: reservation.attemptId }],
    })
  })
})

describe('the removal of a workspace when a call goes wrong', () => {
  it.each<Fault>([{ kind: 'lose_answer' }, { kind: 'refuse' }, { kind: 'hang' }, { kind: 'late' }])(
    'is done once: $kind',
    async (fault) => {
      const { ledger, versionOf, removal } = open()
      await ledger.create(workspaceId, 500, signal)
      const version = await versionOf()
      let isBroken = false
      used.broken.fault = () => {
        if (isBroken) return undefined
        isBroken = true
        return fault
      }
      expect(await removal.remove(workspaceId, version, signal)).toBe(true)
      expect(await ledger.read(workspaceId, signal)).toBeUndefined()
      // What comes late finds another workspace, and leaves it alone.
      const reservation = newReservation({ workspaceId })
      await ledger.take(reservation, signal)
      await used.broken.deliverLate()
      expect(await ledger.read(workspaceId, signal)).toMatchObject({ usedBytes: reservation.sizeBytes })
    },
  )

  it('is a failure when nothing is answered, and may be repeated', async () => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(workspaceId, 500, signal)
    const version = await versionOf()
    used.broken.fault = () => ({ kind: 'refuse' })
    await expect(removal.remove(workspaceId, version, signal)).rejects.toMatchObject({ reason: 'service_unavailable' })
    expect(await ledger.read(workspaceId, signal)).toMatchObject({ quotaBytes: 500 })
    used.broken.fault = () => undefined
    expect(await removal.remove(workspaceId, version, signal)).toBe(true)
  })
})
