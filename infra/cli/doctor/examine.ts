import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { S3 } from '@aws-sdk/client-s3'
import { connectionsOf } from '../../../lib/aws/clients.ts'
import type { Config } from '../../../lib/config.ts'
import { type DeclaredTable, readTables } from '../../deploy/service-definition.ts'
import { readSettings, type Target } from '../connect.ts'
import type { ExitCode, Session } from '../session.ts'
import type { Columns } from '../terminal/list-options.ts'
import { bucketChecks, bucketSetupChecks } from './buckets.ts'
import {
  type Check,
  type CheckResult,
  notChecked,
  problem,
  problemsFound,
  runCheck,
  setupCheck,
  VERDICTS,
} from './check.ts'
import { deploymentChecks } from './deployment.ts'
import { erasuresCheck } from './erasures.ts'
import { schemaCheck, tableSetupChecks } from './tables.ts'

/** The check of records looks at no more of each table. */
const MOST_RECORDS = 5000
/** The S3 client sets no limit of its own: a copy may take long. */
const CHECK_TIMEOUT_MS = 10_000
/** A lease is two minutes, and the audit calls a leftover overdue by this machine's clock. */
const TOLERATED_SKEW_MS = 60_000

type Deployment = { config: Config; tables: DeclaredTable[] }

const COLUMNS: Columns<CheckResult> = {
  CHECK: ({ check }) => check,
  RESULT: ({ verdict }) => VERDICTS[verdict],
  'WHAT IS SEEN, WHAT TO DO': ({ detail }) => detail,
}

export async function examine({ output, signal, ...session }: Session): Promise<ExitCode> {
  output.progress('checking')
  let deployment: Deployment | undefined
  const readDeployment = async () => {
    const env = await session.environment()
    deployment = { config: readSettings(env), tables: readTables(env) }
    return 'complete, every value possible'
  }
  // This one runs first, because it says which servers the others ask.
  const results = [await runCheck({ name: 'configuration', run: readDeployment }, CHECK_TIMEOUT_MS, signal)]
  const stored = deployment ? [recordsCheck(session.stores), erasuresCheck(session.stores)] : []
  const checks = [...checksOf(deployment, session.target), ...stored]
  results.push(...(await Promise.all(checks.map((check) => runCheck(check, CHECK_TIMEOUT_MS, signal)))))
  signal.throwIfAborted()
  await output.list(results, { columns: COLUMNS, toJson: (result) => result, noun: 'checks' })
  const count = (wanted: CheckResult['verdict']) => results.filter(({ verdict }) => verdict === wanted).length
  const found = problemsFound(count('problem'))
  output.note(`\n${found}; ${count('advice')} advice, ${count('not_checked')} not checked.`)
  return count('problem') === 0 ? 0 : 1
}

/** @param deployment undefined when it is faulty, or when a local service is not running: then there is nothing to check */
function checksOf(deployment: Deployment | undefined, { local, stage }: Target): Check[] {
  if (deployment === undefined && local) return []
  // The checks call the SDK directly, and all of their calls may be repeated.
  const settings = { maxAttempts: 3, requestHandler: connectionsOf(16) }
  const dynamoDb = new DynamoDB(settings)
  const general = [credentialsCheck(dynamoDb), clockCheck(new DynamoDB(settings))]
  if (deployment === undefined) return general
  const { config, tables } = deployment
  const s3 = new S3({ ...settings, forcePathStyle: config.s3ForcePathStyle })
  return [
    ...general,
    ...tables.map((table) => schemaCheck(table, dynamoDb)),
    ...bucketChecks(config, s3),
    // The embedded stores have no such setup.
    ...(local ? [] : [...tableSetupChecks(tables, dynamoDb), ...bucketSetupChecks(config, s3)]),
    ...(stage !== undefined ? deploymentChecks(config, dynamoDb) : []),
  ]
}

function recordsCheck(stores: Session['stores']): Check {
  return setupCheck('records of workspaces and keys', 'dynamodb:Scan', async (signal) => {
    const { workspaces, apiKeys } = await stores()
    const unreadable: string[] = []
    let count = 0
    for (const rows of [workspaces.readAll(signal), apiKeys.list({}, signal)]) {
      let left = MOST_RECORDS
      for await (const row of rows) {
        if ('error' in row) unreadable.push(`${row.id}: ${(row.error as Error).message}`)
        count++
        if (--left === 0) break
      }
    }
    return unreadable.length === 0 ? `${count} were read` : problem(`unreadable: ${unreadable.join('; ')}`)
  })
}

function credentialsCheck({ config }: DynamoDB): Check {
  const run = async () => {
    const region = await config.region()
    const { accessKeyId, expiration } = await config.credentials()
    // The last four characters are enough to tell which key it is.
    const key = accessKeyId.length > 8 ? `…${accessKeyId.slice(-4)}` : accessKeyId
    return `access key ${key}, region ${region}${expiration ? `, until ${expiration.toISOString()}` : ''}`
  }
  return { name: 'credentials', run }
}

/** This machine's clock compared with DynamoDB's. Any answer tells the time, even a refusal. */
function clockCheck(client: DynamoDB): Check {
  let date: string | undefined
  client.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args)
      date = (answer.response as { headers?: Record<string, string> }).headers?.date
      return answer
    },
    // The step closest to the wire comes before an error answer is thrown.
    { step: 'deserialize', priority: 'low', name: 'readServerDate' },
  )
  const run = async (abortSignal: AbortSignal) => {
    await client.listTables({ Limit: 1 }, { abortSignal }).catch((error) => {
      if (date === undefined) throw error
    })
    if (date === undefined) return notChecked('the server does not tell its time')
    const skewMs = Date.now() - Date.parse(date)
    const seconds = Math.round(Math.abs(skewMs) / 1000)
    if (Math.abs(skewMs) <= TOLERATED_SKEW_MS) return `within ${Math.max(1, seconds)} s of DynamoDB's`
    return problem(`${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} DynamoDB's: set this machine's clock`)
  }
  return { name: 'clock', run }
}
