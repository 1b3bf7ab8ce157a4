import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { CommandError } from '../command-error.ts'

export interface RestoredTable {
  source: string
  target: string
  durationMs: number
}

/** A restore takes minutes to hours, whatever the size. */
const PATIENCE_S = 12 * 60 * 60
const POLL_S = { minDelay: 2, maxDelay: 20 }
/** RestoreDateTime has whole seconds. */
const SAME_MOMENT_MS = 1000

/**
 * The last moment to which all of the tables can be restored, some five minutes ago; or the one that is asked for.
 * @throws CommandError when one of them cannot be restored to that
 */
export async function momentOf(
  tables: readonly string[],
  askedForMs: number | undefined,
  client: DynamoDBClient,
  abortSignal: AbortSignal,
): Promise<number> {
  const windows = await Promise.all(tables.map((name) => windowOf(name, client, abortSignal)))
  const earliestMs = Math.max(...windows.map((window) => window.earliestMs))
  const latestMs = Math.min(...windows.map((window) => window.latestMs))
  const momentMs = askedForMs ?? latestMs
  if (momentMs >= earliestMs && momentMs <= latestMs) return momentMs
  const [from, to] = [earliestMs, latestMs].map((ms) => new Date(ms).toISOString())
  throw new CommandError('not_restorable', `${tables.join(', ')} can be restored to moments from ${from} to ${to}.`)
}

async function windowOf(TableName: string, client: DynamoDBClient, abortSignal: AbortSignal) {
  const command = new DescribeContinuousBackupsCommand({ TableName })
  const { ContinuousBackupsDescription } = await client.send(command, { abortSignal })
  const { EarliestRestorableDateTime, LatestRestorableDateTime, PointInTimeRecoveryStatus } =
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {}
  if (PointInTimeRecoveryStatus !== 'ENABLED' || !EarliestRestorableDateTime || !LatestRestorableDateTime) {
    throw new CommandError(
      'not_restorable',
      `Point-in-time recovery of ${TableName} is off: there is nothing to restore.`,
    )
  }
  return { earliestMs: EarliestRestorableDateTime.getTime(), latestMs: LatestRestorableDateTime.getTime() }
}

/**
 * Restores a table into a new one, and adds what DynamoDB does not restore: expiry and point-in-time recovery (API
 * reference, RestoreTableToPointInTime). May be repeated: a restore that was begun is waited for.
 */
export async function restoreTable(
  { source, target, momentMs }: { source: string; target: string; momentMs: number },
  client: DynamoDBClient,
  abortSignal: AbortSignal,
): Promise<RestoredTable> {
  const startedAtMs = performance.now()
  const existing = await describe(target, client, abortSignal)
  if (existing === undefined) {
    const RestoreDateTime = new Date(momentMs)
    const command = new RestoreTableToPointInTimeCommand({
      SourceTableName: source,
      TargetTableName: target,
      RestoreDateTime,
    })
    await client.send(command, { abortSignal })
  } else if (!isRestoreOf(existing, source, momentMs)) {
    throw new CommandError('exists', `${target} is there already, and no restore of ${source} to that moment.`)
  }
  await waitUntilTableExists({ client, maxWaitTime: PATIENCE_S, ...POLL_S, abortSignal }, { TableName: target })
  await setUpAs(source, target, client, abortSignal)
  return { source, target, durationMs: Math.round(performance.now() - startedAtMs) }
}

function isRestoreOf({ RestoreSummary }: TableDescription, source: string, momentMs: number): boolean {
  const { SourceTableArn, RestoreDateTime } = RestoreSummary ?? {}
  const offMs = Math.abs((RestoreDateTime?.getTime() ?? 0) - momentMs)
  return SourceTableArn?.endsWith(`:table/${source}`) === true && offMs <= SAME_MOMENT_MS
}

async function setUpAs(source: string, TableName: string, client: DynamoDBClient, abortSignal: AbortSignal) {
  const options = { abortSignal }
  const expiryOf = async (name: string) =>
    (await client.send(new DescribeTimeToLiveCommand({ TableName: name }), options)).TimeToLiveDescription
  const { AttributeName, TimeToLiveStatus = '' } = (await expiryOf(source)) ?? {}
  const isOn = (status = '') => /^ENABL/.test(status)
  if (AttributeName && isOn(TimeToLiveStatus) && !isOn((await expiryOf(TableName))?.TimeToLiveStatus)) {
    const TimeToLiveSpecification = { AttributeName, Enabled: true }
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }), options)
  }
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true }
  await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }), options)
}

/** Protects a restored table from deletion, if the original is protected. */
export async function protectAs(
  { source, target }: Pick<RestoredTable, 'source' | 'target'>,
  client: DynamoDBClient,
  abortSignal: AbortSignal,
): Promise<void> {
  const original = await describe(source, client, abortSignal)
  if (!original?.DeletionProtectionEnabled) return
  const command = new UpdateTableCommand({ TableName: target, DeletionProtectionEnabled: true })
  await client.send(command, { abortSignal })
}

/** @returns undefined: there is no such table */
export async function describe(
  TableName: string,
  client: DynamoDBClient,
  abortSignal: AbortSignal,
): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }), { abortSignal })).Table
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined
    throw error
  }
}
