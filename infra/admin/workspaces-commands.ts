import type { Command } from 'commander'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { StorageUsage } from '../../lib/promotion/quota-ledger.ts'
import type { OpenReservation } from '../../lib/promotion/reservations.ts'
import type { WorkspaceLedger } from '../../lib/promotion/workspace-ledgers.ts'
import { CommandError } from './command-error.ts'
import { confirm } from './confirm.ts'
import { deleteWorkspace } from './delete-workspace.ts'
import { addListOptions, type ListOptions } from './list-options.ts'
import { bytes, exactBytes, table, time } from './output.ts'
import { parseSize, parseWorkspaceId } from './parse-values.ts'
import type { ExitCode, Run, Session } from './session.ts'

const SIZES = 'Sizes: bytes, or a number with KB, MB, GB, TB, PB (powers of 1000) or KiB, … PiB (powers of 1024).'

export function addWorkspacesCommands(group: Command, run: Run): void {
  group
    .command('create')
    .description('make a workspace; without this, its first promotion makes it with the default quota')
    .argument('<workspace_id>', 'its id', parseWorkspaceId)
    .option('--quota <size>', 'its quota, for example 10GiB; default: that of the service', parseSize)
    .addHelpText('after', `\n${SIZES} An existing workspace is never changed; repeating its quota is fine.`)
    .action((id: WorkspaceId, { quota }: { quota?: number }) => run((session) => create(id, quota, session)))
  group
    .command('show')
    .description('quota, used bytes and open reservations of a workspace')
    .argument('<workspace_id>', 'its id', parseWorkspaceId)
    .option('--count', 'count its documents, too: reads them all', false)
    .action((id: WorkspaceId, { count }: { count: boolean }) => run((session) => show(id, count, session)))
  addListOptions(group.command('list').description('all workspaces'), Object.keys(COLUMNS)).action(
    (options: ListOptions) => run((session) => list(options, session)),
  )
  group
    .command('set-quota')
    .description('give a workspace another quota, while promotions are under way')
    .argument('<workspace_id>', 'its id', parseWorkspaceId)
    .argument('<size>', 'its new quota, for example 10GiB', parseSize)
    .addHelpText(
      'after',
      `\n${SIZES} With a quota below what is used, nothing more fits in until enough is deleted: for that, and for a\nthousandth or less of the old quota, it asks first.`,
    )
    .option('--yes', 'do not ask', false)
    .action((id: WorkspaceId, quota: number, { yes }: { yes: boolean }) =>
      run((session) => setQuota(id, quota, yes, session)),
    )
  group
    .command('delete')
    .description('delete a workspace that is empty')
    .argument('<workspace_id>', 'which', parseWorkspaceId)
    .option('--empty', 'delete its keys and documents first', false)
    .option('--yes', 'do not ask', false)
    .addHelpText(
      'after',
      '\nMay be repeated. A key that is left would make the workspace anew with its next promotion.',
    )
    .action((id: WorkspaceId, options: { empty: boolean; yes: boolean }) =>
      run((session) => deleteWorkspace(id, options, session)),
    )
}

async function create(workspaceId: WorkspaceId, quota: number | undefined, session: Session): Promise<ExitCode> {
  const { workspaces, config } = await session.stores()
  const { isNew, usage } = await workspaces.create(workspaceId, quota ?? config.defaultQuotaBytes, session.signal)
  const { quotaBytes } = usage
  if (!isNew && quota !== undefined && quota !== quotaBytes) {
    throw new CommandError(
      'workspace_exists',
      `Workspace ${workspaceId} is there already, with a quota of ${exactBytes(quotaBytes)}: nothing was changed; set-quota does that.`,
    )
  }
  session.output.done(
    `Workspace ${workspaceId} ${isNew ? 'was made' : 'was there already'}, with a quota of ${exactBytes(quotaBytes)}.`,
    { ...usageJson(workspaceId, usage), isNew },
  )
  return 0
}

async function show(workspaceId: WorkspaceId, isCounting: boolean, session: Session): Promise<ExitCode> {
  const { ledgers, documents, reservations } = await session.stores()
  const ledger = await ledgers.read(workspaceId, session.signal)
  if (ledger === undefined) throw notThere(workspaceId)
  let count = 0
  if (isCounting) {
    for await (const _ of documents.list(workspaceId, session.signal)) {
      if (++count % 100 === 0) session.output.progress(`${count} documents`)
    }
  }
  const open: OpenReservation[] = []
  for await (const reservation of reservations.list(workspaceId, session.signal)) open.push(reservation)
  session.output.tell(describe(ledger, open, isCounting ? count : undefined), {
    ...usageJson(workspaceId, ledger),
    ...(isCounting && { documents: count }),
    reservations: open.map(reservationJson),
  })
  return 0
}

const COLUMNS = {
  WORKSPACE: ({ workspaceId }) => workspaceId,
  QUOTA: ({ quotaBytes }) => bytes(quotaBytes),
  USED: ({ usedBytes }) => bytes(usedBytes),
  REMAINING: (ledger) => bytes(remaining(ledger)),
} satisfies Record<string, (ledger: WorkspaceLedger) => string>

async function list(options: ListOptions, session: Session): Promise<ExitCode> {
  const { ledgers } = await session.stores()
  await session.output.list(ledgers.readAll(session.signal), {
    ...options,
    columns: COLUMNS,
    sortBy: {
      QUOTA: ({ quotaBytes }) => quotaBytes,
      USED: ({ usedBytes }) => usedBytes,
      REMAINING: (ledger) => remaining(ledger),
    },
    toJson: (ledger) => usageJson(ledger.workspaceId, ledger),
    none: 'There are no workspaces.',
    noun: 'workspaces',
  })
  return 0
}

async function setQuota(
  workspaceId: WorkspaceId,
  quota: number,
  isConfirmed: boolean,
  session: Session,
): Promise<ExitCode> {
  const { workspaces, ledgers } = await session.stores()
  const known = await ledgers.read(workspaceId, session.signal)
  if (known === undefined) throw notThere(workspaceId)
  const doubt = doubtAbout(quota, known)
  if (doubt !== undefined) {
    const change = `from ${exactBytes(known.quotaBytes)} to ${exactBytes(quota)}`
    const question = `The quota of ${workspaceId} in ${session.place} goes ${change}, ${doubt}. Set it?`
    await confirm(question, isConfirmed, session)
  }
  const changed = await workspaces.setQuota(workspaceId, quota, session.signal)
  if (changed === undefined) throw notThere(workspaceId)
  const { previousQuotaBytes, usage } = changed
  const over = usage.usedBytes - usage.quotaBytes
  session.output.done(
    `Workspace ${workspaceId} has a quota of ${exactBytes(usage.quotaBytes)} ` +
      `(before: ${exactBytes(previousQuotaBytes)}), ${exactBytes(usage.usedBytes)} used.` +
      (over > 0 ? ` That is ${exactBytes(over)} too much: no promotion fits in until that much is deleted.` : ''),
    { ...usageJson(workspaceId, usage), previousQuotaBytes },
  )
  return 0
}

function describe(ledger: WorkspaceLedger, reservations: OpenReservation[], documentCount: number | undefined): string {
  const facts = [
    ['workspace', ledger.workspaceId],
    ['quota', exactBytes(ledger.quotaBytes)],
    ['used', exactBytes(ledger.usedBytes)],
    ['remaining', exactBytes(remaining(ledger))],
    ...(documentCount === undefined ? [] : [['documents', `${documentCount}`]]),
    ['reservations', reservations.length === 0 ? 'none' : `${reservations.length}`],
  ]
  if (reservations.length === 0) return table([], facts)
  const rows = reservations.map((open) => [
    open.documentId,
    open.purpose,
    bytes(open.sizeBytes),
    time(open.leaseExpiresAtMs),
  ])
  return `${table([], facts)}\n\n${table(['RESERVED FOR', 'PURPOSE', 'SIZE', 'UNTIL'], rows)}`
}

/** Why a quota looks like a mistake, if it does. */
function doubtAbout(quotaBytes: number, known: StorageUsage): string | undefined {
  if (quotaBytes < known.usedBytes) return `below the ${exactBytes(known.usedBytes)} that are used`
  return quotaBytes < known.quotaBytes && quotaBytes * 1000 <= known.quotaBytes
    ? 'a thousandth of it or less'
    : undefined
}

const remaining = ({ quotaBytes, usedBytes }: StorageUsage) => quotaBytes - usedBytes

function usageJson(workspaceId: WorkspaceId, usage: StorageUsage) {
  const { quotaBytes, usedBytes } = usage
  return { workspaceId, quotaBytes, usedBytes, remainingBytes: remaining(usage) }
}

function reservationJson({ documentId, attemptId, purpose, sizeBytes, objectKey, leaseExpiresAtMs }: OpenReservation) {
  return { documentId, attemptId, purpose, sizeBytes, objectKey, leaseExpiresAt: new Date(leaseExpiresAtMs) }
}

function notThere(workspaceId: WorkspaceId): CommandError {
  return new CommandError(
    'workspace_not_found',
    `There is no workspace ${workspaceId}: "workspaces create" makes it, or its first promotion does.`,
  )
}
