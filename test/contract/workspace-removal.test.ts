import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLedgerMaintenance } from '../../lib/aws/dynamodb/ledger-maintenance.ts'
import { createQuotaLedger } from '../../lib/aws/dynamodb/quota-ledger.ts'
import { createWorkspaceAdministration } from '../../lib/aws/dynamodb/workspace-administration.ts'
import { createWorkspaceRemoval } from '../../lib/aws/dynamodb/workspace-removal.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { LEDGER_SETTINGS, newAttempt, newRelease, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { type StandIns, startStandIns } from '../support/stores/stand-ins.ts'

// Never reached, however busy the machine.
const signal = AbortSignal.timeout(900_000)
let standIns: StandIns
let workspaceId: WorkspaceId

beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

beforeEach(() => {
  workspaceId = newWorkspaceId()
})

function open() {
  const settings = { ...LEDGER_SETTINGS, client: standIns.dynamoDb, tableName: standIns.config.workspacesTable }
  const ledger = {
    ...createQuotaLedger(settings),
    ...createLedgerMaintenance(settings),
    ...createWorkspaceAdministration(settings),
  }
  const versionOf = async () => (await ledger.read(workspaceId, signal))?.version
  return { ledger, versionOf, removal: createWorkspaceRemoval(settings) }
}

describe('the removal of a workspace', () => {
  it('takes an empty one away: then it is as one that was never seen', async () => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(workspaceId, 500, signal)
    expect(await removal.remove(workspaceId, await versionOf(), signal)).toBe(true)
    expect(await ledger.read(workspaceId, signal)).toBeUndefined()
    const taken = await ledger.take(newAttempt({ workspaceId }), signal)
    expect(taken).toMatchObject({ outcome: 'taken', usage: { quotaBytes: LEDGER_SETTINGS.defaultQuotaBytes } })
  })

  it('may be repeated, and is fine with one that was never there', async () => {
    const { ledger, versionOf, removal } = open()
    expect(await removal.remove(workspaceId, undefined, signal)).toBe(true)
    await ledger.create(workspaceId, 500, signal)
    const version = await versionOf()
    expect(await removal.remove(workspaceId, version, signal)).toBe(true)
    expect(await removal.remove(workspaceId, version, signal)).toBe(true)
  })

  it.each<[string, (ledger: ReturnType<typeof open>['ledger']) => Promise<unknown>, seen?: 'before' | 'never']>([
    [
      'counts bytes',
      async (ledger) => {
        const counted = newAttempt({ workspaceId })
        await ledger.take(counted, signal)
        await ledger.unmark(counted, signal)
      },
    ],
    ['has a taking under way', (ledger) => ledger.take(newAttempt({ workspaceId }), signal)],
    [
      'has a taking under way that weighs nothing',
      (ledger) => ledger.take(newAttempt({ workspaceId, sizeBytes: 0 }), signal),
    ],
    [
      'has a release under way that weighs nothing',
      (ledger) => ledger.mark(newRelease(newAttempt({ workspaceId, sizeBytes: 0 }), 'deletion'), signal),
    ],
    [
      'changed since it was looked at, although it is empty again',
      async (ledger) => {
        const one = newAttempt({ workspaceId })
        await ledger.take(one, signal)
        await ledger.release(one, signal)
      },
      'before',
    ],
    ['was made after none was seen', async () => {}, 'never'],
  ])('refuses one that %s, and changes nothing', async (_, change, seen) => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(workspaceId, 500, signal)
    const made = await versionOf()
    await change(ledger)
    const before = await ledger.read(workspaceId, signal)
    const version = seen === 'before' ? made : seen === 'never' ? undefined : before?.version
    expect(await removal.remove(workspaceId, version, signal)).toBe(false)
    expect(await ledger.read(workspaceId, signal)).toEqual(before)
  })

  it('loses to a promotion or wins against it, and never takes counted bytes away', async () => {
    const { ledger, versionOf, removal } = open()
    await ledger.create(workspaceId, 500, signal)
    const version = await versionOf()
    const reservation = newAttempt({ workspaceId })
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
