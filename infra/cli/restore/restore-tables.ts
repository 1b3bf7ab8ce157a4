import {
  DescribeContinuousBackupsCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { createDynamoDbClient } from '../../../lib/aws/clients.ts'
import { describeTable } from '../../deploy/describe-table.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import { readSettings } from '../connect.ts'
import type { Session } from '../session.ts'

/** The parameters that name tables. Those of the ledger refer to each other, so they must be restored to one moment. */
const TABLES = { ledger: ['workspacesTable', 'documentsTable'], keys: ['keysTable'] } as const
/** A restore takes minutes to hours, whatever the size. */
const PATIENCE_S = 12 * 60 * 60
const POLL_S = { minDelay: 2, maxDelay: 20 }
/** RestoreDateTime has whole seconds. */
const SAME_MOMENT_MS = 1000

type Restore = Awaited<ReturnType<typeof planRestores>>['restores'][number]

/** @param at ms since 1970 */
export async function restoreTables(session: Session, options: { at: number; table: keyof typeof TABLES }) {
  const { output, signal, target } = session
  const { at, table: which } = options
  const { restores, client } = await planRestores(which, at, session)
  output.progress('restoring, which takes minutes or hours')
  const restoring = restores.map(async (restore) => {
    const restored = await restoreTable(restore, client, signal)
    const streamArn = await streamLike(restored.source, restored.target, client, signal)
    await protectLike(restored.source, restored.target, client, signal)
    output.print(describeRestored(restored), { ...restored, parameter: restore.parameter, streamArn })
    // Only Documents has one.
    return [`${restore.parameter}: ${restored.target}`, ...(streamArn ? [`documentsStreamArn: ${streamArn}`] : [])]
  })
  await Promise.allSettled(restoring)
  const lines = (await Promise.all(restoring)).flat().join('\n')
  if (output.isJson) return
  const where = `settings/${target.stage ?? 'STAGE'}.yml`
  output.print(`\nWrite into ${where}, deploy, and audit (docs/restore.md):\n${lines}`, {})
}

/** @throws CommandError when a table cannot be restored to that moment */
async function planRestores(which: keyof typeof TABLES, momentMs: number, { signal, target, environment }: Session) {
  if (target.local) throw wrongUsage('The local service has no point-in-time recovery: say --stage <name>.')
  const config = readSettings(await environment())
  // All its calls are reads, and writes that may be repeated.
  const client = createDynamoDbClient({ maxAttempts: 3 })
  // The source is the deployed table, the target the new one.
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
  return { restores, client }
}

async function windowOf(TableName: string, client: DynamoDBClient, abortSignal: AbortSignal) {
  const answer = await client.send(new DescribeContinuousBackupsCommand({ TableName }), { abortSignal })
  const { EarliestRestorableDateTime, LatestRestorableDateTime, PointInTimeRecoveryStatus } =
    answer.ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {}
  if (PointInTimeRecoveryStatus === 'ENABLED' && EarliestRestorableDateTime && LatestRestorableDateTime) {
    return { earliestMs: EarliestRestorableDateTime.getTime(), latestMs: LatestRestorableDateTime.getTime() }
  }
  const message = `Point-in-time recovery of ${TableName} is off: there is nothing to restore.`
  throw new CommandError('not_restorable', message)
}

function describeRestored({ source, target, durationMs }: Awaited<ReturnType<typeof restoreTable>>): string {
  return `${source} was restored into ${target}, in ${Math.ceil(durationMs / 1000)} s.`
}

/**
 * Restores a table into a new one, and adds what DynamoDB does not restore: expiry and point-in-time recovery (API
 * reference, RestoreTableToPointInTime). May be repeated: a restore that was begun is waited for.
 */
async function restoreTable({ source, target, momentMs }: Restore, client: DynamoDBClient, abortSignal: AbortSignal) {
  const startedAtMs = performance.now()
  const existing = await describeTable(target, client, abortSignal)
  if (existing === undefined) {
    const tables = { SourceTableName: source, TargetTableName: target }
    const command = new RestoreTableToPointInTimeCommand({ ...tables, RestoreDateTime: new Date(momentMs) })
    await client.send(command, { abortSignal })
  } else if (!isRestoreOf(existing, source, momentMs)) {
    throw new CommandError('exists', `${target} is there already, and no restore of ${source} to that moment.`)
  }
  await waitUntilTableExists({ client, maxWaitTime: PATIENCE_S, ...POLL_S, abortSignal }, { TableName: target })
  await setUpLike(source, target, client, abortSignal)
  return { source, target, durationMs: Math.round(performance.now() - startedAtMs) }
}

function isRestoreOf({ RestoreSummary }: TableDescription, source: string, momentMs: number): boolean {
  const { SourceTableArn, RestoreDateTime } = RestoreSummary ?? {}
  const offMs = Math.abs((RestoreDateTime?.getTime() ?? 0) - momentMs)
  return SourceTableArn?.endsWith(`:table/${source}`) === true && offMs <= SAME_MOMENT_MS
}

async function setUpLike(source: string, TableName: string, client: DynamoDBClient, abortSignal: AbortSignal) {
  const expiryOf = async (name: string) => {
    const answer = await client.send(new DescribeTimeToLiveCommand({ TableName: name }), { abortSignal })
    const { AttributeName, TimeToLiveStatus = '' } = answer.TimeToLiveDescription ?? {}
    return /^ENABL/.test(TimeToLiveStatus) ? AttributeName : undefined
  }
  const AttributeName = await expiryOf(source)
  if (AttributeName && !(await expiryOf(TableName))) {
    const TimeToLiveSpecification = { AttributeName, Enabled: true }
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }), { abortSignal })
  }
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true }
  const backups = new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification })
  await client.send(backups, { abortSignal })
}

/** Turns on what DynamoDB does not restore: the stream that events come from. @returns its ARN; undefined: there is none */
async function streamLike(source: string, TableName: string, client: DynamoDBClient, abortSignal: AbortSignal) {
  const streamOf = async (name: string) => {
    const { StreamSpecification, LatestStreamArn } = (await describeTable(name, client, abortSignal)) ?? {}
    return StreamSpecification?.StreamEnabled ? { StreamSpecification, LatestStreamArn } : undefined
  }
  const wanted = await streamOf(source)
  if (wanted && !(await streamOf(TableName))) {
    const { StreamSpecification } = wanted
    await client.send(new UpdateTableCommand({ TableName, StreamSpecification }), { abortSignal })
    await waitUntilTableExists({ client, maxWaitTime: PATIENCE_S, ...POLL_S, abortSignal }, { TableName })
  }
  return wanted && (await streamOf(TableName))?.LatestStreamArn
}

/** Protects a restored table from deletion, if the original is protected. */
async function protectLike(source: string, target: string, client: DynamoDBClient, abortSignal: AbortSignal) {
  const original = await describeTable(source, client, abortSignal)
  if (!original?.DeletionProtectionEnabled) return
  const command = new UpdateTableCommand({ TableName: target, DeletionProtectionEnabled: true })
  await client.send(command, { abortSignal })
}
