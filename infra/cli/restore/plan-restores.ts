import { DescribeContinuousBackupsCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createDynamoDbClient } from '../../../lib/aws/clients.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import { readSettings } from '../connect.ts'
import type { Session } from '../session.ts'

/** The parameter that names the restored table, and the variable that names the deployed one. */
const KEYS = [{ parameter: 'keysTable', variable: 'KEYS_TABLE' }]
/** These tables refer to each other, so they must be restored to one moment. */
const LEDGER = [
  { parameter: 'workspacesTable', variable: 'WORKSPACES_TABLE' },
  { parameter: 'documentsTable', variable: 'DOCUMENTS_TABLE' },
]

export type Plan = Awaited<ReturnType<typeof planRestores>>
export type Restore = Plan['restores'][number]

/** @param askedForMs undefined: the last moment possible @throws CommandError when one cannot be restored to it */
export async function planRestores(
  which: 'ledger' | 'keys',
  mark: 'at' | 'rehearsal',
  askedForMs: number | undefined,
  { signal, target, environment }: Session,
) {
  if (target.local) throw wrongUsage('The local service has no point-in-time recovery: say --stage <name>.')
  const env = await environment()
  readSettings(env)
  // All its calls are reads, and writes that may be repeated.
  const client = createDynamoDbClient({ maxAttempts: 3 })
  // The source is the deployed table, the target the new one.
  const tables = (which === 'keys' ? KEYS : LEDGER).map((each) => ({ ...each, source: env[each.variable] ?? '' }))
  const windows = await Promise.all(tables.map(({ source }) => windowOf(source, client, signal)))
  const earliestMs = Math.max(...windows.map((window) => window.earliestMs))
  const latestMs = Math.min(...windows.map((window) => window.latestMs))
  const momentMs = askedForMs ?? latestMs
  if (momentMs < earliestMs || momentMs > latestMs) {
    const [from, to] = [earliestMs, latestMs].map((ms) => new Date(ms).toISOString())
    const names = tables.map(({ source }) => source).join(', ')
    throw new CommandError('not_restorable', `${names} can be restored to moments from ${from} to ${to}.`)
  }
  const moment = new Date(momentMs).toISOString().slice(0, 19).replace(/[-:]/g, '').toLowerCase()
  const restores = tables.map((table) => {
    // The name says what and when, as in `…-documents-at-20261121t090000z`.
    const name = table.source.replace(/-(at|rehearsal)-\d{8}t\d{6}z$/, '')
    return { ...table, target: `${name}-${mark}-${moment}z`, momentMs }
  })
  return { restores, env, client }
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
