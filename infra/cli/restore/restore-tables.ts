import {
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { describeTable } from '../../deploy/describe-table.ts'
import { CommandError } from '../command-error.ts'
import type { Session } from '../session.ts'
import { planRestores, type Restore } from './plan-restores.ts'

interface TableOptions {
  /** ms since 1970. */
  at: number
  table: 'ledger' | 'keys'
}

interface RestoredTable {
  source: string
  target: string
  durationMs: number
}

/** A restore takes minutes to hours, whatever the size. */
const PATIENCE_S = 12 * 60 * 60
const POLL_S = { minDelay: 2, maxDelay: 20 }
/** RestoreDateTime has whole seconds. */
const SAME_MOMENT_MS = 1000

export async function restoreTables(session: Session, { at, table: which }: TableOptions): Promise<void> {
  const { output, signal, target } = session
  const { restores, client } = await planRestores(which, 'at', at, session)
  output.progress('restoring, which takes minutes or hours')
  const restoring = restores.map(async (restore) => {
    const restored = await restoreTable(restore, client, signal)
    await protectLike(restored.source, restored.target, client, signal)
    output.print(describeRestored(restored), { ...restored, parameter: restore.parameter })
  })
  await Promise.allSettled(restoring)
  await Promise.all(restoring)
  if (output.isJson) return
  const lines = restores.map((restore) => `${restore.parameter}: ${restore.target}`).join('\n')
  const where = `settings/${target.stage ?? 'STAGE'}.yml`
  output.print(`\nWrite into ${where}, deploy, and audit (docs/restore.md):\n${lines}`, {})
}

export function describeRestored({ source, target, durationMs }: RestoredTable): string {
  return `${source} was restored into ${target}, in ${Math.ceil(durationMs / 1000)} s.`
}

/**
 * Restores a table into a new one, and adds what DynamoDB does not restore: expiry and point-in-time recovery (API
 * reference, RestoreTableToPointInTime). May be repeated: a restore that was begun is waited for.
 */
export async function restoreTable(
  { source, target, momentMs }: Restore,
  client: DynamoDBClient,
  abortSignal: AbortSignal,
): Promise<RestoredTable> {
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

/** Protects a restored table from deletion, if the original is protected. */
async function protectLike(source: string, target: string, client: DynamoDBClient, abortSignal: AbortSignal) {
  const original = await describeTable(source, client, abortSignal)
  if (!original?.DeletionProtectionEnabled) return
  const command = new UpdateTableCommand({ TableName: target, DeletionProtectionEnabled: true })
  await client.send(command, { abortSignal })
}
