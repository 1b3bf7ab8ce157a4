import { setTimeout as sleep } from 'node:timers/promises'
import { deleteWorkspace } from '../../../lib/administration/delete-workspace.ts'
import { remainsOf } from '../../../lib/administration/remains.ts'
import {
  type ClosedLedger,
  cancelErasure,
  findErasure,
  requestErasure,
} from '../../../lib/administration/request-erasure.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { describeErasure } from '../../../lib/http/operations/erasure-operations.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { Erasure } from '../../../lib/ledger/ports/ledger.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import type { Stores } from '../connect.ts'
import { confirm, type Session } from '../session.ts'
import { counted, exactBytes, time } from '../terminal/output.ts'

/** @property after in seconds; given: it does not wait for the end */
type Options = { erase: boolean; after?: number; cancel?: boolean }

const LOOK_EACH_MS = 5000
/** The function runs each minute. */
const LATE_MS = 5 * 60_000
/** Whoever uses the command line has rights in the account that reach further. */
const AT_ONCE = { leastErasureSeconds: 0 }
/** Only the functions know how long logs are kept. */
const LOGS_UNKNOWN = { logRetentionDays: undefined }

/** Deletes a workspace without documents, as the API does. To erase it, it asks the service. */
export async function deleteWorkspaceFor(session: Session, workspaceId: WorkspaceId, options: Options): Promise<void> {
  if (options.erase) return eraseWorkspace(session, workspaceId, options)
  if (options.cancel || options.after !== undefined) throw wrongUsage('--after and --cancel belong to --erase.')
  const stores = await session.stores()
  await confirm(`Delete workspace ${workspaceId} with its keys in ${session.place}?`, session)
  const absent = (error: unknown) => {
    if (error instanceof ServiceError && error.reason === 'workspace_not_found') return 'absent'
    throw error
  }
  const outcome = await deleteWorkspace(workspaceId, stores, session.signal).then(() => 'deleted', absent)
  const gone = `Workspace ${workspaceId} is deleted, with its keys.`
  const text = outcome === 'deleted' ? gone : `There is no workspace ${workspaceId} (any more).`
  session.output.done(text, { workspaceId, outcome })
}

/** Has the service erase a workspace, and waits until it has. @throws CommandError when S3 refuses to delete something */
async function eraseWorkspace(session: Session, workspaceId: WorkspaceId, options: Options) {
  const { output, signal } = session
  const stores = await session.stores()
  if (options.cancel) {
    await cancelErasure(workspaceId, stores, signal)
    const text = `The erasure of ${workspaceId} is taken back: it is open again.`
    return output.done(text, { workspaceId, outcome: 'cancelled' })
  }
  const { after: afterSeconds = 0 } = options
  const known = await stores.ledger.read(workspaceId, signal)
  const beginsAtMs = stores.now() + 1000 * afterSeconds
  if (!isAsked(known?.erasure, beginsAtMs)) {
    const { documents = 0, usedBytes = 0 } = known ?? {}
    const all = `its keys, container files and ${counted(documents, 'document')} (${exactBytes(usedBytes)})`
    const when = afterSeconds > 0 ? `on ${time(beginsAtMs)}` : 'now'
    await confirm(`Erase workspace ${workspaceId} for good, with ${all}, ${when}, in ${session.place}?`, session)
  }
  const asked = await requestErasure(workspaceId, { afterSeconds }, { ...stores, ...AT_ONCE }, signal)
  if (options.after !== undefined || asked.erasure.state === 'erased') return tell(asked, session)
  output.note(
    'The service erases it, and looks again twenty minutes later. Interrupt this as you like: repeat it to wait.',
  )
  tell(await erased(workspaceId, stores, session), session)
}

/** Whether asking would change nothing. */
const isAsked = (erasure: Erasure | undefined, beginsAtMs: number) =>
  erasure && (erasure.state !== 'scheduled' || erasure.beginsAtMs <= beginsAtMs)

async function erased(workspaceId: WorkspaceId, stores: Stores, { output, signal }: Session): Promise<ClosedLedger> {
  for (;;) {
    const closed = await findErasure(workspaceId, stores, signal)
    const { state, refused, beginsAtMs, dueAtMs = 0 } = closed.erasure
    if (state === 'scheduled' && stores.now() > beginsAtMs + LATE_MS) {
      const message = `Nobody has begun to erase ${workspaceId}: is the stage running, and deployed with this version?`
      throw new CommandError('not_erased', `${message} --cancel opens it again.`)
    }
    if (refused) {
      const again = `The service tries again each hour, next on ${time(dueAtMs)}.`
      throw new CommandError('not_erased', `Workspace ${workspaceId} is ${erasureInWords(closed.erasure)}. ${again}`)
    }
    if (state === 'erased') return closed
    output.progress(`${workspaceId}: ${erasureInWords(closed.erasure)}`)
    await sleep(LOOK_EACH_MS, undefined, { signal })
  }
}

function tell(closed: ClosedLedger, { output }: Session): void {
  const { workspaceId, erasure } = closed
  const { documents = 0, usedBytes = 0, state } = erasure
  const listed = remainsOf(erasure, LOGS_UNKNOWN).map(
    ({ what, untilMs }) => what.replaceAll('_', ' ') + (untilMs ? ` until ${time(untilMs)}` : ''),
  )
  const what = state === 'scheduled' ? '' : `, with ${counted(documents, 'document')} (${exactBytes(usedBytes)})`
  const left = listed.length === 0 ? '' : ` There remain: ${listed.join(', ')} (docs/tenants-and-regions.md).`
  const text = `Workspace ${workspaceId} is ${erasureInWords(erasure)}${what}.${left}`
  output.done(text, describeErasure(closed, LOGS_UNKNOWN))
}

export function erasureInWords({ state, refused, reason, ...at }: Erasure): string {
  const { beginsAtMs, endedAtMs = 0, verifiedAtMs = 0 } = at
  if (refused) return `${state}; S3 refuses to delete ${counted(refused, 'object')} (${reason})`
  if (state === 'scheduled') return `scheduled for ${time(beginsAtMs)}`
  if (state === 'erasing') return `erasing since ${time(beginsAtMs)}`
  return state === 'erased' ? `erased since ${time(verifiedAtMs)}` : `verifying since ${time(endedAtMs)}`
}
