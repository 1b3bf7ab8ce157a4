import type { Command } from 'commander'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { chooseExpiry } from '../../../lib/ledger/expiry.ts'
import type { StorageUsage, WorkspaceLedger } from '../../../lib/ledger/ports/ledger.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import { type ExitCode, later, type Run, type Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { addListOptions, type Columns, type ListOptions } from '../terminal/list-options.ts'
import { bytes, bytesCell, countCell, duration, exactBytes, table, time } from '../terminal/output.ts'
import { parseLimit, parseRetention, parseSize } from '../terminal/parse-values.ts'
import { addCommand } from '../usage.ts'
import { expireExisting } from './documents-commands.ts'
import { requireWorkspace, workspaceNotFound } from './require-workspace.ts'

const SIZES = '\nSizes: bytes, or a number with KB, MB, GB, TB, PB (powers of 1000) or KiB, … PiB (powers of 1024).'
const RETENTION =
  '\n1h to 3650d; what is not given stays. Documents that are there stay as they are, unless --existing is given: those that\nhave no expiry get one, counted from now, and those that would be kept longer from now than --expire-at-most are cut to\nthat. This may be interrupted and repeated.'

type Kept = number | 'never' | undefined
type SetOptions = {
  expireAfter?: Kept
  expireAtMost?: Kept
  existing: boolean
  requestsPerMinute?: number | 'default'
}

const COLUMNS: Columns<WorkspaceLedger> = {
  WORKSPACE: ({ workspaceId }) => workspaceId,
  QUOTA: ({ quotaBytes }) => bytesCell(quotaBytes),
  USED: ({ usedBytes }) => bytesCell(usedBytes),
  REMAINING: (ledger) => bytesCell(remaining(ledger)),
  DOCUMENTS: ({ documents }) => countCell(documents),
}

export function addWorkspacesCommands(program: Command, run: Run): void {
  const group = program.command('workspaces').description('create, show, list, set up and delete workspaces')
  const add = (usage: string, description: string) => addCommand(group, usage, description)
  add('create <workspace_id>', 'make a workspace; without this, its first promotion makes it with the default quota')
    .option('--quota <size>', "its quota, such as 10GiB; by default the service's", parseSize)
    .addHelpText('after', `${SIZES} An existing workspace is never changed; repeating its quota is fine.`)
    .action(run(createWorkspace))
  add('show <workspace_id>', 'show quota, used bytes and what is under way in a workspace').action(run(showWorkspace))
  addListOptions(add('list', 'list all workspaces'), COLUMNS).action(run(listWorkspaces))
  add('set-quota <workspace_id>', 'change the quota of a workspace, even while promotions run')
    .argument('<size>', 'its new quota, such as 10GiB', parseSize)
    .addHelpText('after', `${SIZES}\nAsks if the new one is below what is used, or a thousandth of the old or less.`)
    .action(run(setQuota))
  add('set <workspace_id>', 'set how long documents are kept, and the limit of its keys')
    .option('--expire-after <duration>', 'if their promotion does not say: 30d, or never', parseRetention)
    .option('--expire-at-most <duration>', 'whatever their promotion says: 90d, or never', parseRetention)
    .option('--requests-per-minute <number>', 'of all its keys without a limit of their own; or default', parseLimit)
    .option('--existing', 'also those that are there', false)
    .addHelpText('after', RETENTION)
    .action(run(setWorkspace))
  add('delete <workspace_id>', 'delete a workspace without documents, with its keys')
    .option('--empty', 'delete its documents first', false)
    .option('--erase', 'the same, and then all versions of its objects and container files', false)
    .addHelpText(
      'after',
      '\nMay be repeated. A key that is left would make it again with its next promotion. Without --erase, former versions\nof objects stay for a while (docs/tenants-and-regions.md).',
    )
    .action(run(later(async () => (await import('./delete-workspace.ts')).deleteWorkspace)))
}

async function createWorkspace(session: Session, workspaceId: WorkspaceId, { quota }: { quota?: number }) {
  const { workspaces, config } = await session.stores()
  const settings = { quotaBytes: quota ?? config.defaultQuotaBytes }
  const { isNew, ledger } = await workspaces.create(workspaceId, settings, session.signal)
  const size = exactBytes(ledger.quotaBytes)
  if (!isNew && quota !== undefined && quota !== ledger.quotaBytes) {
    const message = `Workspace ${workspaceId} is there already, with a quota of ${size}: nothing was changed; set-quota does that.`
    throw new CommandError('workspace_exists', message)
  }
  const text = `Workspace ${workspaceId} ${isNew ? 'was made' : 'was there already'}, with a quota of ${size}.`
  session.output.done(text, { ...toJson(ledger), isNew })
}

async function showWorkspace(session: Session, workspaceId: WorkspaceId) {
  const ledger = await requireWorkspace(workspaceId, await session.stores(), session.signal)
  const underWay = [...ledger.holds, ...ledger.refunds].map((each) => {
    const { documentId, attemptId, sizeBytes, leaseEndsAtMs } = each
    const what = 'refundId' in each ? 'deletion' : 'promotion'
    return { documentId, attemptId, what, sizeBytes, leaseEndsAt: new Date(leaseEndsAtMs) }
  })
  const facts = [
    ['workspace', workspaceId],
    ['quota', exactBytes(ledger.quotaBytes)],
    ['used', exactBytes(ledger.usedBytes)],
    ['remaining', exactBytes(remaining(ledger))],
    ['documents', ledger.documents.toLocaleString('en')],
    ['expire after', ledger.expireAfterSeconds ? duration(ledger.expireAfterSeconds) : 'never'],
    ['expire at most', ledger.expireAtMostSeconds ? duration(ledger.expireAtMostSeconds) : 'never'],
    ['requests a minute', ledger.requestsPerMinute?.toLocaleString('en') ?? 'default'],
    ['made', time(ledger.createdAt)],
    ['under way', `${underWay.length || 'nothing'}`],
  ]
  const rows = underWay.map((each) => [each.documentId, each.what, bytes(each.sizeBytes), time(each.leaseEndsAt)])
  const more = rows.length === 0 ? '' : `\n\n${table(['DOCUMENT', 'UNDER WAY', 'SIZE', 'UNTIL'], rows)}`
  session.output.print(table([], facts) + more, { ...toJson(ledger), underWay })
}

async function listWorkspaces({ output, signal, stores }: Session, options: ListOptions<WorkspaceLedger>) {
  const { workspaces } = await stores()
  const listing = { ...options, columns: COLUMNS, toJson, noun: 'workspaces' }
  return (await output.list(workspaces.readAll(signal), listing)).exitCode
}

async function setQuota(session: Session, workspaceId: WorkspaceId, quotaBytes: number) {
  const { workspaces, ...stores } = await session.stores()
  const known = await requireWorkspace(workspaceId, stores, session.signal)
  const doubt = doubtAbout(quotaBytes, known)
  if (doubt !== undefined) {
    const fromTo = `from ${exactBytes(known.quotaBytes)} to ${exactBytes(quotaBytes)}`
    await confirm(`The quota of ${workspaceId} in ${session.place} goes ${fromTo}, ${doubt}. Set it?`, session)
  }
  const { quotaBytes: previousQuotaBytes } = known
  const change = { shown: known, to: { quotaBytes } }
  const ledger = requireChange(await workspaces.change(workspaceId, change, session.signal), workspaceId)
  const over = ledger.usedBytes - ledger.quotaBytes
  session.output.done(
    `Workspace ${workspaceId} has a quota of ${exactBytes(ledger.quotaBytes)} ` +
      `(before: ${exactBytes(previousQuotaBytes)}), ${exactBytes(ledger.usedBytes)} used.` +
      (over > 0 ? ` That is ${exactBytes(over)} too much: no promotion fits in until that much is deleted.` : ''),
    { ...toJson(ledger), previousQuotaBytes },
  )
}

async function setWorkspace(session: Session, workspaceId: WorkspaceId, options: SetOptions): Promise<ExitCode> {
  const stores = await session.stores()
  const { workspaces } = stores
  const ledger = await requireWorkspace(workspaceId, stores, session.signal)
  const changed = (before: number | undefined, to: Kept) => (to === 'never' ? undefined : (to ?? before))
  const after = changed(ledger.expireAfterSeconds, options.expireAfter)
  const atMost = changed(ledger.expireAtMostSeconds, options.expireAtMost)
  const retention = { expireAfterSeconds: after, expireAtMostSeconds: atMost }
  const kept = chooseExpiry(undefined, retention)
  if (after && kept?.by === 'limit')
    throw wrongUsage(`--expire-after (${duration(after)}) is longer than --expire-at-most (${duration(kept.seconds)}).`)
  if (options.existing && !kept) throw wrongUsage('--existing needs a time: say --expire-after or --expire-at-most.')
  const byDefault = `for ${kept ? duration(kept.seconds) : 'ever'}, unless their promotion says how long`
  const text = `New documents of ${workspaceId} are kept ${byDefault}${atMost ? `; ${duration(atMost)} at most` : ''}.`
  const those = `those that are there (${exactBytes(ledger.usedBytes)}), counted from now, in ${session.place}`
  if (options.existing) await confirm(`${text} Apply that to ${those}?`, session)
  const { requestsPerMinute } = options
  const limit = { requestsPerMinute: requestsPerMinute === 'default' ? undefined : requestsPerMinute }
  const to = { ...retention, ...(requestsPerMinute !== undefined && limit) }
  const change = { shown: ledger, to }
  const saved = requireChange(await workspaces.change(workspaceId, change, session.signal), workspaceId)
  if ('requestsPerMinute' in to) await stores.rateLimiter.setLimits(workspaceId, saved, session.signal)
  const others = options.existing ? '' : ' Those that are there stay as they are: --existing changes them, too.'
  session.output.done(text + others, toJson({ ...ledger, ...to }))
  return options.existing ? expireExisting(session, workspaceId, retention) : 0
}

/** @throws CommandError when somebody else has changed meanwhile what was shown, or deleted the workspace */
function requireChange<Outcome>(outcome: Outcome | 'changed' | undefined, workspaceId: WorkspaceId): Outcome {
  if (outcome === undefined) throw workspaceNotFound(workspaceId)
  if (outcome !== 'changed') return outcome
  const message = `Nothing was done: somebody else has just changed what this would change; see "workspaces show ${workspaceId}".`
  throw new CommandError('workspace_changed', message)
}

/** Why a quota looks like a mistake, if it does. */
function doubtAbout(quotaBytes: number, known: StorageUsage): string | undefined {
  if (quotaBytes < known.usedBytes) return `below the ${exactBytes(known.usedBytes)} that are used`
  if (quotaBytes < known.quotaBytes && quotaBytes * 1000 <= known.quotaBytes) return 'a thousandth of it or less'
  return undefined
}

const remaining = ({ quotaBytes, usedBytes }: StorageUsage) => quotaBytes - usedBytes

/** Leaves out what concerns only the ledger. */
const toJson = ({ version: _, holds: __, refunds: ___, ...workspace }: WorkspaceLedger) => ({
  ...workspace,
  remainingBytes: remaining(workspace),
})
