import { DynamoDB, type TableDescription, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import { connectionsOf } from '../../../lib/aws/clients.ts'
import { createErasures } from '../../../lib/aws/dynamodb/erasures.ts'
import { createLedger } from '../../../lib/aws/dynamodb/ledger.ts'
import { createLedgerMaintenance } from '../../../lib/aws/dynamodb/ledger-maintenance.ts'
import type { Config } from '../../../lib/config.ts'
import { describeTable } from '../../deploy/describe-table.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import { readSettings } from '../connect.ts'
import type { ExitCode, Session } from '../session.ts'
import { counted } from '../terminal/output.ts'
import { carryOverErasures } from './carry-over-erasures.ts'

/** The parameters that name tables. Those of the ledger refer to each other, so they must be restored to one moment. */
const TABLES = { ledger: ['workspacesTable', 'documentsTable'], keys: ['keysTable'] } as const
/** A restore takes minutes to hours, whatever the size. */
const PATIENCE_S = 12 * 60 * 60
const REQUEST_TIMEOUT_MS = 3000
/** RestoreDateTime has whole seconds. */
const SAME_MOMENT_MS = 1000

type Restore = Awaited<ReturnType<typeof planRestores>>['restores'][number]

/** @property at ms since 1970 */
type Options = { at: number; table: keyof typeof TABLES }

export async function restoreTables(session: Session, { at, table }: Options): Promise<ExitCode> {
  const { output, signal, target } = session
  const { restores, client, config } = await planRestores(table, at, session)
  output.progress('restoring, which takes minutes or hours')
  const restoring = restores.map(async (restore) => {
    const startedAtMs = performance.now()
    await restoreTable(restore, client, signal)
    const streamArn = await setUpLikeSource(restore, client, signal)
    const durationMs = Math.round(performance.now() - startedAtMs)
    const { source, target, parameter } = restore
    const text = `${source} was restored into ${target}, in ${Math.ceil(durationMs / 1000)} s.`
    output.print(text, { source, target, durationMs, parameter, streamArn })
    // Only Documents has one.
    return [`${parameter}: ${target}`, ...(streamArn ? [`documentsStreamArn: ${streamArn}`] : [])]
  })
  await Promise.allSettled(restoring)
  const lines = (await Promise.all(restoring)).flat().join('\n')
  const ledgers = restores.find(({ parameter }) => parameter === 'workspacesTable')
  const carried = ledgers && (await carryOver(ledgers, config, client, signal))
  const { closed = 0, opened = 0, unreadable = [] } = carried ?? {}
  if (closed > 0) output.note(`What came back of ${counted(closed, 'closed workspace')} will be erased again.`)
  if (opened > 0) output.note(`Open again, as their erasure was taken back since: ${counted(opened, 'workspace')}.`)
  for (const { id, error } of unreadable)
    output.fail({ reason: 'unreadable', message: `${id}: whether it was erased since is not known: ${error}` })
  const where = `settings/${target.stage ?? 'STAGE'}.yml`
  if (!output.isJson) output.print(`\nWrite into ${where}, deploy, and audit (docs/restore.md):\n${lines}`, {})
  return unreadable.length === 0 ? 0 : 1
}

function carryOver({ source, target }: Restore, config: Config, client: DynamoDB, signal: AbortSignal) {
  const on = { ...config, client, now: Date.now }
  const former = createLedgerMaintenance({ ...on, tableName: source })
  const { read } = createLedger({ ...on, tableName: target })
  const { create } = createLedgerMaintenance({ ...on, tableName: target })
  const { change } = createErasures({ ...on, tableName: target })
  return carryOverErasures({ former, restored: { read, create, change }, now: on.now }, signal)
}

/** @throws CommandError when a table cannot be restored to that moment */
async function planRestores(which: Options['table'], momentMs: number, { signal, target, environment }: Session) {
  if (target.local) throw wrongUsage('The local service has no point-in-time recovery: say --stage <name>.')
  const config = readSettings(await environment())
  // All its calls are reads, and writes that may be repeated.
  const requestHandler = connectionsOf(8, { requestTimeout: REQUEST_TIMEOUT_MS })
  const client = new DynamoDB({ maxAttempts: 3, requestHandler })
  const tables = TABLES[which].map((parameter) => ({ parameter, source: config[parameter] }))
  const windows = await Promise.all(tables.map(({ source }) => windowOf(source, client, signal)))
  const earliestMs = Math.max(...windows.map((window) => window.earliestMs))
  const latestMs = Math.min(...windows.map((window) => window.latestMs))
  if (momentMs < earliestMs || momentMs > latestMs) {
    const [from, to] = [earliestMs, latestMs].map((ms) => new Date(ms).toISOString())
    const names = tables.map(({ source }) => source).join(', ')
    throw new CommandError('not_restorable', `${names} can be restored to moments from ${from} to ${to}.`)
  }
  const moment = new Date(momentMs).toISOString().slice(0, 19).replace(/[-:]/g, '').toLowerCase()
  const restores = tables.map((table) => {
    // The name says what and when, as in `…-documents-at-20261121t090000z`.
    const name = table.source.replace(/-at-\d{8}t\d{6}z$/, '')
    return { ...table, target: `${name}-at-${moment}z`, momentMs }
  })
  return { restores, client, config }
}

async function windowOf(TableName: string, client: DynamoDB, abortSignal: AbortSignal) {
  const { ContinuousBackupsDescription } = await client.describeContinuousBackups({ TableName }, { abortSignal })
  const { EarliestRestorableDateTime, LatestRestorableDateTime, PointInTimeRecoveryStatus } =
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {}
  if (PointInTimeRecoveryStatus === 'ENABLED' && EarliestRestorableDateTime && LatestRestorableDateTime)
    return { earliestMs: EarliestRestorableDateTime.getTime(), latestMs: LatestRestorableDateTime.getTime() }
  const message = `Point-in-time recovery of ${TableName} is off: there is nothing to restore.`
  throw new CommandError('not_restorable', message)
}

/** Restores a table into a new one. May be repeated: a restore that was begun is waited for. */
async function restoreTable({ source, target, momentMs }: Restore, client: DynamoDB, abortSignal: AbortSignal) {
  const existing = await describeTable(target, client, abortSignal)
  if (existing && !isRestoreOf(existing, source, momentMs))
    throw new CommandError('exists', `${target} is there already, and no restore of ${source} to that moment.`)
  const wanted = { SourceTableName: source, TargetTableName: target, RestoreDateTime: new Date(momentMs) }
  if (!existing) await client.restoreTableToPointInTime(wanted, { abortSignal })
  await untilActive(target, client, abortSignal)
}

const untilActive = (TableName: string, client: DynamoDB, abortSignal: AbortSignal) =>
  waitUntilTableExists({ client, maxWaitTime: PATIENCE_S, minDelay: 2, maxDelay: 20, abortSignal }, { TableName })

function isRestoreOf({ RestoreSummary }: TableDescription, source: string, momentMs: number): boolean {
  const { SourceTableArn, RestoreDateTime } = RestoreSummary ?? {}
  const offMs = Math.abs((RestoreDateTime?.getTime() ?? 0) - momentMs)
  return SourceTableArn?.endsWith(`:table/${source}`) === true && offMs <= SAME_MOMENT_MS
}

/** Adds what DynamoDB does not restore (API reference, RestoreTableToPointInTime). @returns the ARN of a stream for events */
async function setUpLikeSource(restore: Restore, client: DynamoDB, abortSignal: AbortSignal) {
  const { source, target: TableName } = restore
  const options = { abortSignal }
  const expiryOf = async (name: string) => {
    const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName: name }, options)
    const { AttributeName, TimeToLiveStatus = '' } = TimeToLiveDescription ?? {}
    return /^ENABL/.test(TimeToLiveStatus) ? AttributeName : undefined
  }
  const AttributeName = await expiryOf(source)
  if (AttributeName && !(await expiryOf(TableName))) {
    const TimeToLiveSpecification = { AttributeName, Enabled: true }
    await client.updateTimeToLive({ TableName, TimeToLiveSpecification }, options)
  }
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true }
  await client.updateContinuousBackups({ TableName, PointInTimeRecoverySpecification }, options)
  const original = await describeTable(source, client, abortSignal)
  const StreamSpecification = original?.StreamSpecification?.StreamEnabled ? original.StreamSpecification : undefined
  const restored = await describeTable(TableName, client, abortSignal)
  if (StreamSpecification && !restored?.StreamSpecification?.StreamEnabled) {
    await client.updateTable({ TableName, StreamSpecification }, options)
    await untilActive(TableName, client, abortSignal)
  }
  if (original?.DeletionProtectionEnabled)
    await client.updateTable({ TableName, DeletionProtectionEnabled: true }, options)
  return StreamSpecification && (await describeTable(TableName, client, abortSignal))?.LatestStreamArn
}
