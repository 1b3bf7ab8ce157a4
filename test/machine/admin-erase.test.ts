import { expect, it } from 'vitest'
import { eraseDueWorkspaces } from '../../lib/administration/erase-due-workspaces.ts'
import type { Erasure } from '../../lib/ledger/ports/ledger.ts'
import { jsonLines } from '../support/machine/admin.ts'
import { useAdministration } from '../support/machine/use-administration.ts'
import type { AwsCall } from '../support/protocol/fault-proxy.ts'
import type { TestWorkspace } from '../support/protocol/workspaces.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

const { admin, adminAsked, service, promote, workspaceWithDocument } = useAdministration()
const erasing = (workspace: string, ...more: string[]) => ['workspaces', 'delete', workspace, '--erase', ...more]
const { signal } = new AbortController()
const DAY_MS = 86_400_000

let whileWaiting: () => Promise<unknown> = async () => {}
replaceWaits((ms) => {
  expect(ms).toBe(5000)
  return whileWaiting()
})

const erasureOf = async ({ workspaceId }: TestWorkspace) =>
  (await service().deps.ledger.read(workspaceId, signal))?.erasure as Erasure

/** The function's next run, as if its time had come. */
async function goOn(workspace: TestWorkspace) {
  const { deps } = service()
  const shown = await erasureOf(workspace)
  const to = { ...shown, dueAtMs: deps.now() - 1 }
  if (shown.dueAtMs) await deps.erasures.change(workspace.workspaceId, { shown, to }, signal)
  return eraseDueWorkspaces({ ...deps, apiKeys: deps.keyAdministration }, signal)
}

async function stored(workspaceId: string): Promise<string[]> {
  const { s3, config } = service()
  const all = [config.documentsBucket, config.sandboxBucket].map(async (Bucket) => {
    const { Contents = [] } = await s3.listObjectsV2({ Bucket })
    return Contents.map(({ Key = '' }) => Key)
  })
  return (await Promise.all(all)).flat().filter((key) => key.includes(`/${workspaceId}/`))
}

it('asks, has the service erase the workspace, and waits; repeated, it goes on waiting, and says what is left', async () => {
  const own = await workspaceWithDocument('ws_a')
  const other = await workspaceWithDocument('ws_ab')
  const [before, beside] = [await stored('ws_a'), await stored('ws_ab')]
  const unconfirmed = await admin(...erasing('ws_a'))
  const question =
    'Erase workspace ws_a for good, with its keys, container files and 1 document (1000 bytes), now, in this environment?'
  expect([unconfirmed.code, unconfirmed.stderr]).toEqual([
    2,
    expect.stringMatching(`^${question.replace(/[()?]/g, '\\$&')}`),
  ])
  expect([await stored('ws_a'), await erasureOf(own)]).toEqual([before, undefined])

  whileWaiting = () => Promise.reject(new Error('stopped'))
  const stopped = await adminAsked(() => {}, ...erasing('ws_a'))
  expect([stopped.code, stopped.stderr]).toEqual([2, expect.stringContaining('repeat it to wait')])
  expect(await erasureOf(own)).toMatchObject({ state: 'scheduled' })

  const states: unknown[] = []
  whileWaiting = async () => {
    await goOn(own)
    states.push((await erasureOf(own)).state)
  }
  // It asks no question: this has been answered.
  const repeated = await admin(...erasing('ws_a', '--json'))
  expect([repeated.code, repeated.stderr, states]).toEqual([0, '', ['verifying', 'erased']])
  const at = expect.stringMatching(/Z$/)
  const times = { requested_at: at, begins_at: at, ended_at: at, verified_at: at }
  const [erased] = jsonLines(repeated)
  expect(erased).toEqual({
    ...{ workspace_id: 'ws_a', state: 'erased', remains: expect.arrayContaining([{ what: 'logs', until: null }]) },
    ...{ documents_left: 0, bytes_left: 0, ...times },
  })
  expect([await stored('ws_a'), await stored('ws_ab')]).toEqual([[], beside])
  expect((await promote(other)).status).toBe(200)

  const again = await admin(...erasing('ws_a'))
  expect([again.code, again.stdout]).toEqual([0, ''])
  expect(again.stderr).toMatch(
    /^Workspace ws_a is erased since 20.*Z, with 1 document \(1000 bytes\)\. There remain: late uploads until 20.*, events delivered \(/,
  )
  expect((await admin('workspaces', 'show', 'ws_a')).stdout).toMatch(/^erasure +erased since 20/m)
})

it('is not done while S3 refuses to delete something: exit code 1, with the number and the reason', async () => {
  const own = await workspaceWithDocument('ws_locked')
  const isLocked = ({ name, path }: AwsCall) => name === 'DeleteObject' && path.includes('/sess_1/')
  const denied = '<Error><Code>AccessDenied</Code><Message>locked</Message></Error>'
  service().breakCalls((call) => (isLocked(call) ? { kind: 'answer', status: 403, body: denied } : undefined))
  whileWaiting = () => goOn(own)
  const { code, stdout, stderr } = await admin(...erasing('ws_locked', '--yes', '--json'))
  service().breakCalls(() => undefined)
  expect([code, stdout, JSON.parse(stderr).error]).toEqual([
    ...[1, ''],
    {
      reason: 'not_erased',
      message: expect.stringMatching(
        /^Workspace ws_locked is erasing; S3 refuses to delete 1 object \(AccessDenied.*\)\. The service tries again each hour, next on 20/,
      ),
    },
  ])
  expect(await stored('ws_locked')).toEqual(['sandboxes/ws_locked/sess_1/a.txt'])
  expect((await goOn(own)).failed).toBe(0)
  expect(await admin(...erasing('ws_locked'))).toMatchObject({ code: 0 })
})

it('begins later, when told to, and does not wait; it may be taken back until then, and brought forward', async () => {
  const own = await workspaceWithDocument('ws_later')
  whileWaiting = () => Promise.reject(new Error('it waits'))
  const later = await admin(...erasing('ws_later', '--after', '7d', '--yes'))
  const { beginsAtMs } = await erasureOf(own)
  expect([later.code, later.stderr]).toEqual([
    0,
    expect.stringMatching(/^Workspace ws_later is scheduled for 20.*Z\.\n$/),
  ])
  expect(Math.round((beginsAtMs - Date.now()) / DAY_MS)).toBe(7)
  expect((await admin('workspaces', 'show', 'ws_later', '--json')).stdout).toContain('"erasure":"scheduled"')
  expect((await promote(own)).status).toBe(403)

  const cancelled = jsonLines(await admin(...erasing('ws_later', '--cancel', '--json')))
  expect(cancelled).toEqual([{ workspace_id: 'ws_later', outcome: 'cancelled' }])
  expect((await promote(own)).status).toBe(200)
  expect(await admin(...erasing('ws_later', '--cancel'))).toMatchObject({ code: 1 })

  await admin(...erasing('ws_later', '--after', '7d', '--yes'))
  expect(await admin(...erasing('ws_later', '--after', '0s'))).toMatchObject({ code: 2, stderr: /now/ })
  const sooner = await admin(...erasing('ws_later', '--after', '0s', '--yes', '--json'))
  expect(jsonLines(sooner)).toMatchObject([{ state: 'scheduled', remains: [] }])
  expect((await erasureOf(own)).beginsAtMs).toBeLessThanOrEqual(Date.now())
  await goOn(own)
  expect((await admin(...erasing('ws_later', '--cancel'))).code).toBe(1)

  for (const wrong of [
    ['--after', '31d'],
    ['--after', '1d', '--cancel'],
  ])
    expect(await admin(...erasing('ws_later', ...wrong)), wrong.join(' ')).toMatchObject({ code: 2 })
  const withoutErase = await admin('workspaces', 'delete', 'ws_later', '--cancel')
  expect(withoutErase).toMatchObject({ code: 2, stderr: expect.stringContaining('belong to --erase') })
  expect(await admin(...erasing('ws_none', '--yes'))).toMatchObject({ code: 1 })
})

it('does not wait where nobody has begun minutes after its time, and says so', async () => {
  const own = await workspaceWithDocument('ws_idle')
  const past = Date.now() - 6 * 60_000
  const to = { state: 'scheduled' as const, requestedAtMs: past, beginsAtMs: past, dueAtMs: past }
  await service().deps.erasures.change(own.workspaceId, { shown: undefined, to }, signal)
  whileWaiting = () => Promise.reject(new Error('it waits'))
  const { code, stderr } = await admin(...erasing('ws_idle'))
  expect([code, stderr]).toEqual([1, expect.stringContaining('Nobody has begun to erase ws_idle')])
  expect((await admin(...erasing('ws_idle', '--cancel'))).code).toBe(0)
})
