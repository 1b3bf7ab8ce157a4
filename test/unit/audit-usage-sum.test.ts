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
const NOTHING_SUMMED = { heldBytes: 0, otherBytes: 0, newestVersion: 0 }
const ATTEMPT = { attemptId: 'a' as AttemptId, sizeBytes: 10 }
const RELEASING = 'marked at the cut' as ReleaseId
const RELEASED = 'not marked at the cut' as ReleaseId
const NO_ONE = { ages: [], attemptIds: [] }

const state = (change: Partial<UsageState> = {}): UsageState => ({
  workspaceId: WORKSPACE,
  cut: { version: CUT, usedBytes: 0, underWayBytes: 0, underWay: NO_ONE, releaseIds: [RELEASING] },
  atMs: AT_MS,
  sum: { ...NOTHING_SUMMED },
  ...change,
})

describe('the sum of what was counted at a cut', () => {
  it.each<[string, Omit<CountedBytes, keyof typeof ATTEMPT>, Partial<UsageState['sum']>]>([
    ['a document counted by the version of the cut', { countedFrom: 5 }, { heldBytes: 10, newestVersion: 5 }],
    ['one counted later', { countedFrom: 6 }, { otherBytes: 10, newestVersion: 6 }],
    ['one of a release that did not say since when', { countedFrom: undefined }, { heldBytes: 10 }],
    [
      'one closed after the cut',
      { countedFrom: 4, closedBy: RELEASED, closedIn: 6 },
      { heldBytes: 10, newestVersion: 6 },
    ],
    [
      'one closed and given back before the cut',
      { countedFrom: 3, closedBy: RELEASED, closedIn: 4 },
      { newestVersion: 4 },
    ],
    [
      'one closed at the cut, and given back',
      { countedFrom: 3, closedBy: RELEASED, closedIn: 5 },
      { newestVersion: 5 },
    ],
    [
      'one whose release was marked at the cut',
      { countedFrom: 3, closedBy: RELEASING, closedIn: 4 },
      { heldBytes: 10, newestVersion: 4 },
    ],
    [
      'one that came after the cut and was closed',
      { countedFrom: 6, closedBy: RELEASED, closedIn: 7 },
      { newestVersion: 7 },
    ],
  ])('%s', (_, counted, expected) => {
    const one = state()
    usageSum(one).add({ documentId: 'file_1' as DocumentId, counted: { ...ATTEMPT, ...counted } })
    expect(one.sum).toEqual({ ...NOTHING_SUMMED, ...expected })
  })

  it('leaves out what was under way at the cut, by its age or its attempt', () => {
    for (const underWay of [
      { ages: [2], attemptIds: [] },
      { ages: [], attemptIds: [ATTEMPT.attemptId] },
    ]) {
      const one = state({ cut: { version: CUT, usedBytes: 0, underWayBytes: 10, underWay, releaseIds: [] } })
      usageSum(one).add({ documentId: 'file_1' as DocumentId, counted: { ...ATTEMPT, countedFrom: 3 } })
      expect(one.sum).toEqual({ ...NOTHING_SUMMED, newestVersion: 3 })
    }
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
    for (let n = 0; n <= 10_000; n++) await ports.reservations.open(ports.begin({ sizeBytes: 0 }), false, signal)
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
