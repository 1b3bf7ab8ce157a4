import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import type { Config } from '../../../lib/config.ts'
import type { Colour } from '../colours.ts'
import { readSettings } from '../connect.ts'
import type { ExitCode, Session } from '../session.ts'
import { bucketAccessChecks } from './bucket-access.ts'
import { bucketChecks } from './buckets.ts'
import { type Check, type CheckResult, problemsFound, runCheck, type Verdict } from './check.ts'
import { clockCheck } from './clock.ts'
import { copyConditionsCheck } from './copy-conditions.ts'
import { deploymentChecks } from './deployment.ts'
import { keyPermissionsCheck } from './key-permissions.ts'
import { permissionChecks } from './permissions.ts'
import { tableChecks } from './tables.ts'

const COLOURS: Record<Verdict, Colour> = { ok: 'green', advice: 'yellow', problem: 'red', not_checked: 'dim' }
const WORDS: Record<Verdict, string> = { ok: 'ok', advice: 'advice', problem: 'PROBLEM', not_checked: 'not checked' }

/** All questions that a stand-in cannot answer become one line. */
function mergeAlike(results: CheckResult[]): CheckResult[] {
  const told: CheckResult[] = []
  for (const result of results) {
    const alike = results.filter(({ verdict, detail }) => verdict === 'not_checked' && detail === result.detail)
    if (alike.length < 2) told.push(result)
    else if (alike[0] === result) {
      const names = alike.map(({ check }) => check)
      const about = [...new Set(names.map((name) => name.replace(/ (of|to|in) \S+$/, '')))].join(', ')
      told.push({ ...result, check: `${alike.length} checks`, detail: `${result.detail}: ${about}` })
    }
  }
  return told
}

/** Runs all checks and reports what they found. */
export async function examine(session: Session): Promise<ExitCode> {
  session.output.progress('checking')
  const results: CheckResult[] = []
  let config: Config | undefined
  const configuration: Check = {
    name: 'configuration',
    async look() {
      config = readSettings(await session.environment())
      return 'complete, every value possible'
    },
  }
  // First, because it says which servers the others ask.
  results.push(await runCheck(configuration, session.signal))
  const checks = checksOf(config, session.target.stage !== undefined)
  results.push(...(await Promise.all(checks.map((check) => runCheck(check, session.signal)))))
  session.signal.throwIfAborted()
  await session.output.list(session.output.isJson ? results : mergeAlike(results), {
    columns: {
      CHECK: ({ check }) => check,
      RESULT: ({ verdict }) => ({ text: WORDS[verdict], colour: COLOURS[verdict] }),
      'WHAT IS SEEN, WHAT TO DO': ({ detail }) => detail,
    },
    toJson: (result) => result,
    none: '',
    noun: 'checks',
  })
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length
  const found = problemsFound(count('problem'))
  session.output.note(`\n${found}; ${count('advice')} advice, ${count('not_checked')} not checked.`)
  return count('problem') === 0 ? 0 : 1
}

/**
 * @param config undefined when it is faulty: then the names of tables and buckets are unknown
 * @param isDeployed whether there is a stack around them
 */
function checksOf(config: Config | undefined, isDeployed: boolean): Check[] {
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
    ...[...new Set([config.sandboxBucket, config.documentsBucket])].flatMap((each) => bucketAccessChecks(each, s3)),
    // S3 itself honours them.
    ...(isOtherThanAws() ? [copyConditionsCheck(config, s3)] : []),
    ...(isDeployed ? deploymentChecks(config, dynamoDb) : []),
    keyPermissionsCheck(config, dynamoDb),
    ...permissionChecks(config, dynamoDb, s3),
  ]
}

const isOtherThanAws = () => Boolean(process.env.AWS_ENDPOINT_URL_S3 || process.env.AWS_ENDPOINT_URL)

function credentialsCheck(client: ReturnType<typeof createDynamoDbClient>): Check {
  return {
    name: 'credentials',
    async look() {
      const region = await client.config.region()
      const { accessKeyId, expiration } = await client.config.credentials()
      // Enough to tell which key it is.
      const key = accessKeyId.length > 8 ? `…${accessKeyId.slice(-4)}` : accessKeyId
      return `access key ${key}, region ${region}${expiration ? `, until ${expiration.toISOString()}` : ''}`
    },
  }
}
