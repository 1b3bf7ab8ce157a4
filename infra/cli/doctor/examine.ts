import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import type { Config } from '../../../lib/config.ts'
import { readSettings } from '../connect.ts'
import type { ExitCode, Session } from '../session.ts'
import type { Target } from '../target.ts'
import type { Columns } from '../terminal/list-options.ts'
import { bucketChecks, bucketSetupChecks } from './buckets.ts'
import { type Check, type CheckResult, problemsFound, runCheck, VERDICTS, type Verdict } from './check.ts'
import { clockCheck } from './clock.ts'
import { deploymentChecks } from './deployment.ts'
import { tableChecks, tableSetupChecks } from './tables.ts'

/** The S3 client sets no limit of its own: a copy may take long. */
const CHECK_TIMEOUT_MS = 10_000

const COLUMNS: Columns<CheckResult> = {
  CHECK: ({ check }) => check,
  RESULT: ({ verdict }) => VERDICTS[verdict],
  'WHAT IS SEEN, WHAT TO DO': ({ detail }) => detail,
}

export async function examine({ output, signal, ...session }: Session): Promise<ExitCode> {
  output.progress('checking')
  let config: Config | undefined
  const configuration: Check = {
    name: 'configuration',
    async run() {
      config = readSettings(await session.environment())
      return 'complete, every value possible'
    },
  }
  // This one runs first, because it says which servers the others ask.
  const results = [await runCheck(configuration, CHECK_TIMEOUT_MS, signal)]
  const checks = checksOf(config, session.target)
  results.push(...(await Promise.all(checks.map((check) => runCheck(check, CHECK_TIMEOUT_MS, signal)))))
  signal.throwIfAborted()
  await output.list(results, { columns: COLUMNS, toJson: (result) => result, noun: 'checks' })
  const count = (wanted: Verdict) => results.filter(({ verdict }) => verdict === wanted).length
  const found = problemsFound(count('problem'))
  output.note(`\n${found}; ${count('advice')} advice, ${count('not_checked')} not checked.`)
  return count('problem') === 0 ? 0 : 1
}

/** @param config undefined when it is faulty, or when a local service is not running: then there is nothing to check */
function checksOf(config: Config | undefined, { local, stage }: Target): Check[] {
  if (config === undefined && local) return []
  // The checks call the SDK directly, and all of their calls may be repeated.
  const settings = { maxAttempts: 3 }
  const dynamoDb = createDynamoDbClient(settings)
  const general = [credentialsCheck(dynamoDb), clockCheck(createDynamoDbClient(settings))]
  if (config === undefined) return general
  const s3 = createS3Client({ ...settings, forcePathStyle: config.s3ForcePathStyle })
  return [
    ...general,
    ...tableChecks(config, dynamoDb),
    ...bucketChecks(config, s3),
    // The embedded stores have no such setup.
    ...(local ? [] : [...tableSetupChecks(config, dynamoDb), ...bucketSetupChecks(config, s3)]),
    ...(stage !== undefined ? deploymentChecks(config, dynamoDb) : []),
  ]
}

function credentialsCheck(client: DynamoDBClient): Check {
  return {
    name: 'credentials',
    async run() {
      const region = await client.config.region()
      const { accessKeyId, expiration } = await client.config.credentials()
      // The last four characters are enough to tell which key it is.
      const key = accessKeyId.length > 8 ? `…${accessKeyId.slice(-4)}` : accessKeyId
      return `access key ${key}, region ${region}${expiration ? `, until ${expiration.toISOString()}` : ''}`
    },
  }
}
