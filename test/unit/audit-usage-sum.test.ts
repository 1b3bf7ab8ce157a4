import { describe, expect, it } from 'vitest'
import type { AttemptId, DocumentId, ReleaseId } from '../../lib/ids.ts'
import { endUsage, type UsageState, usageSum } from '../../lib/maintenance/audit-usage.ts'
import type { CountedBytes } from '../../lib/maintenance/document-maintenance.ts'
import { addUp } from '../support/add-up.ts'
import { createPorts, WORKSPACE } from '../support/ports.ts'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000
const AT_MS = 1_800_000_000_000
const CUT = 5
const NOTHING_SUMMED = { heldBytes: 0, otherBytes: 0, unrecorded: 0, unrecordedDeletions: 0, newestVersion: 0 }
const ATTEMPT = { attemptId: 'a' as AttemptId, sizeBytes: 10, createdAtMs: AT_MS }

const state = (change: Partial<UsageState> = {}): UsageState => ({
  workspaceId: WORKSPACE,
  cut: { version: CUT, usedBytes: 0, underWayBytes: 0, underWay: { ages: [], attemptIds: [] }, emptied: [] },
  atMs: AT_MS,
  sum: { ...NOTHING_SUMMED },
  suspectedBytes: [],
  ...change,
})

const former = (countedFrom: number, countedThrough: number): CountedBytes => ({
  state: 'former',
  ...ATTEMPT,
  countedFrom,
  countedThrough,
  finishedAtMs: AT_MS,
})

describe('the sum of what was counted at a cut', () => {
  it.each<[string, CountedBytes, Partial<UsageState['sum']>]>([
    [
      'a document counted by the version of the cut',
      { state: 'document', ...ATTEMPT, countedFrom: 5 },
      { heldBytes: 10, newestVersion: 5 },
    ],
    ['one counted later', { state: 'document', ...ATTEMPT, countedFrom: 6 }, { otherBytes: 10, newestVersion: 6 }],
    [
      'one in deletion',
      { state: 'retired', retiredBy: 'r' as ReleaseId, ...ATTEMPT, countedFrom: 4 },
      { heldBytes: 10, newestVersion: 4 },
    ],
    ['one that was given back before', former(3, 4), { newestVersion: 4 }],
    ['one that was given back after', former(3, 5), { heldBytes: 10, newestVersion: 5 }],
    ['one that came and went after', former(6, 7), { newestVersion: 7 }],
    ['deletions that may have been forgotten', { state: 'truncated', countedThrough: 5 }, { unrecorded: 1 }],
    ['the same, before the cut', { state: 'truncated', countedThrough: 4 }, {}],
    ['an unfinished deletion of an older release', { state: 'unrecorded' }, { unrecordedDeletions: 1 }],
    [
      'one that it finished in the last hour',
      { state: 'unrecorded', finishedAtMs: AT_MS - HOUR_MS },
      { unrecorded: 1 },
    ],
    ['one that it finished before', { state: 'unrecorded', finishedAtMs: AT_MS - HOUR_MS - 1 }, {}],
    [
      "an older release's document of the last hour",
      { state: 'document', ...ATTEMPT, createdAtMs: AT_MS - HOUR_MS, countedFrom: undefined },
      { otherBytes: 10, unrecorded: 1 },
    ],
    [
      'an older one',
      { state: 'document', ...ATTEMPT, createdAtMs: AT_MS - HOUR_MS - 1, countedFrom: undefined },
      { heldBytes: 10 },
    ],
  ])('%s', (_, counted, expected) => {
    const one = state()
    usageSum(one).add({ documentId: 'file_1' as DocumentId, counted: [counted] })
    expect(one.sum).toEqual({ ...NOTHING_SUMMED, ...expected })
  })

  it('says why there is no cut', async () => {
    const { deps } = createPorts()
    const { cut: _, ...without } = state()
    const end = (reason: object) => endUsage({ ...without, ...reason }, deps, signal)
    expect(await end({ reason: 'too_many_under_way' })).toEqual({
      outcome: 'not_added_up',
      reason: 'too_many_under_way',
    })
    // As a slice of an older release left it.
    expect(await end({})).toEqual({ outcome: 'not_added_up', reason: 'restless' })
  })

  it('carries the reason from the cut to the end', async () => {
    const ports = createPorts()
    for (let n = 0; n <= 10_000; n++) await ports.reservations.open(ports.begin({ sizeBytes: 0 }), signal)
    expect(await addUp(ports)).toMatchObject({ outcome: 'not_added_up', reason: 'too_many_under_way' })
  })

  it('agrees when the newest row was counted by the last version of the ledger, up to an age of 20 hours', async () => {
    const { deps, ledger } = createPorts()
    await ledger.create(WORKSPACE, 1000, signal)
    const workspace = ledger.workspaces.get(WORKSPACE)
    if (workspace) workspace.version = CUT + 1
    const sum = { ...NOTHING_SUMMED, newestVersion: CUT + 1 }
    const end = (change: object) => endUsage(state({ sum, ...change }), deps, signal)
    expect(await end({ atMs: deps.now() - 20 * HOUR_MS })).toEqual({ outcome: 'agrees' })
    expect(await end({ atMs: deps.now() - 20 * HOUR_MS - 1 })).toMatchObject({ reason: 'too_slow' })
    expect(await end({ atMs: deps.now(), sum: { ...sum, newestVersion: CUT + 2 } })).toMatchObject({
      reason: 'ledger_replaced',
    })
  })
})
