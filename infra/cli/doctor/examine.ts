import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { S3 } from '@aws-sdk/client-s3'
import { connectionsOf } from '../../../lib/aws/clients.ts'
import type { Config } from '../../../lib/config.ts'
import { type DeclaredTable, readTables } from '../../deploy/service-definition.ts'
import { readSettings, type Target } from '../connect.ts'
import type { ExitCode, Session } from '../session.ts'
import type { Columns } from '../terminal/output.ts'
import { bucketChecks, bucketSetupChecks } from './buckets.ts'
import { type Check, type CheckResult, problemsFound, runCheck, VERDICTS } from './check.ts'
import { deploymentChecks } from './deployment.ts'
import { erasuresCheck } from './erasures.ts'
import { schemaCheck, tableSetupChecks } from './tables.ts'

/** The S3 client sets no limit of its own: a copy may take long. */
const CHECK_TIMEOUT_MS = 10_000

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
  const stored = deployment ? [erasuresCheck(session.stores)] : []
  const checks = [...checksOf(deployment, session.target), ...stored]
  results.push(...(await Promise.all(checks.map((check) => runCheck(check, CHECK_TIMEOUT_MS, signal)))))
  signal.throwIfAborted()
  await output.list(results, { columns: COLUMNS, toJson: (result) => result, noun: 'checks' })
  const count = (wanted: CheckResult['verdict']) => results.filter(({ verdict }) => verdict === wanted).length
  output.note(`\n${problemsFound(count('problem'))}; ${count('advice')} advice, ${count('not_checked')} not checked.`)
  return count('problem') === 0 ? 0 : 1
}

/** @param deployment undefined when it is faulty, or when a local service is not running: then there is nothing to check */
function checksOf(deployment: Deployment | undefined, { local, stage }: Target): Check[] {
  if (deployment === undefined && local) return []
  // The checks call the SDK directly, and all of their calls may be repeated.
  const settings = { maxAttempts: 3, requestHandler: connectionsOf(16) }
  const dynamoDb = new DynamoDB(settings)
  if (deployment === undefined) return [credentialsCheck(dynamoDb)]
  const { config, tables } = deployment
  const s3 = new S3({ ...settings, forcePathStyle: config.s3ForcePathStyle })
  return [
    credentialsCheck(dynamoDb),
    ...tables.map((table) => schemaCheck(table, dynamoDb)),
    ...bucketChecks(config, s3),
    // The embedded stores have no such setup.
    ...(local ? [] : [...tableSetupChecks(tables, dynamoDb), ...bucketSetupChecks(config, s3)]),
    ...(stage !== undefined ? deploymentChecks(config, dynamoDb) : []),
  ]
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
