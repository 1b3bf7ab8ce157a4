import type { Command } from 'commander'
import type { WorkspaceId } from '../../lib/promotion/ids.ts'
import type { OpenReservation, StorageUsage, WorkspaceLedger } from '../../lib/promotion/ports.ts'
import { CommandError } from './command-error.ts'
import { bytes, exactBytes, table, time } from './output.ts'
import { parseSize, parseWorkspaceId } from './parse-values.ts'
import type { ExitCode, Run, Session } from './session.ts'

const SIZES = 'Sizes: bytes, or a number with KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024).'

export function addWorkspacesCommands(group: Command, run: Run): void {
  group
    .command('create')
    .description('make a workspace; without this, its first promotion makes it with the default quota')
    .argument('<workspace_id>', 'its id', parseWorkspaceId)
    .option('--quota <size>', 'its quota, for example 10GiB; left out: the default of the service', parseSize)
    .addHelpText('after', `\n${SIZES} One that is there already is never changed: with the same quota that is fine.`)
    .action((id: WorkspaceId, { quota }: { quota?: number }) => run((session) => create(id, quota, session)))
  group
    .command('show')
    .description('quota, used bytes and open reservations of a workspace')
    .argument('<workspace_id>', 'its id', parseWorkspaceId)
    .option('--count', 'count its documents, too: reads them all', false)
    .action((id: WorkspaceId, { count }: { count: boolean }) => run((session) => show(id, count, session)))
  group
    .command('list')
    .description('all workspaces')
    .action(() => run(list))
  group
    .command('set-quota')
    .description('give a workspace another quota, while promotions are under way')
    .argument('<workspace_id>', 'its id', parseWorkspaceId)
    .argument('<size>', 'its new quota, for example 10GiB', parseSize)
    .addHelpText(
      'after',
      `\n${SIZES} A quota below what is used is fine: nothing more fits in until enough is deleted.`,
    )
    .action((id: WorkspaceId, quota: number) => run((session) => setQuota(id, quota, session)))
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
  session.output.tell(
    `Workspace ${workspaceId} ${isNew ? 'was made' : 'was there already'}, with a quota of ${exactBytes(quotaBytes)}.`,
    { ...usageJson(workspaceId, usage), isNew },
  )
  return 0
}

async function show(workspaceId: WorkspaceId, isCounting: boolean, session: Session): Promise<ExitCode> {
  const { overview, documents, reservations } = await session.stores()
  const ledger = await overview.read(workspaceId, session.signal)
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

async function list(session: Session): Promise<ExitCode> {
  const { overview } = await session.stores()
  await session.output.list(overview.readAll(session.signal), {
    columns: {
      WORKSPACE: ({ workspaceId }) => workspaceId,
      QUOTA: ({ quotaBytes }) => bytes(quotaBytes),
      USED: ({ usedBytes }) => bytes(usedBytes),
      REMAINING: (ledger) => bytes(remaining(ledger)),
    },
    toJson: (ledger) => usageJson(ledger.workspaceId, ledger),
    none: 'There are no workspaces.',
    noun: 'workspaces',
  })
  return 0
}

async function setQuota(workspaceId: WorkspaceId, quota: number, session: Session): Promise<ExitCode> {
  const { workspaces } = await session.stores()
  const changed = await workspaces.setQuota(workspaceId, quota, session.signal)
  if (changed === undefined) throw notThere(workspaceId)
  const { previousQuotaBytes, usage } = changed
  const over = usage.usedBytes - usage.quotaBytes
  session.output.tell(
    `Workspace ${workspaceId} has a quota of ${exactBytes(usage.quotaBytes)} ` +
      `(before: ${exactBytes(previousQuotaBytes)}), ${exactBytes(usage.usedBytes)} used.` +
      (over > 0 ? ` That is ${exactBytes(over)} too much: no promotion fits in until so much is deleted.` : ''),
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
