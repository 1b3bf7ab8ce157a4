import { connectionsOf, createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { openStores } from '../../lib/aws/stores.ts'
import { type Config, type Environment, readConfig } from '../../lib/config.ts'
import type { Log } from '../../lib/logging.ts'
import { unlessMissing } from '../deploy/describe-table.ts'
import { readDemoFile } from '../local/stores/demo-file.ts'
import { CommandError } from './command-error.ts'

/** The options of all commands: which deployment a command is about, and whether nothing need be confirmed. */
export type Target = { local: boolean; directory: string; stage?: string; region?: string; yes?: boolean }

/** The command line prints its own messages. */
const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }

export const stackNameOf = (stage: string) => `container-file-promotion-${stage}`

export type Stores = ReturnType<typeof connect>

/** The settings in a deployment's environment. @throws CommandError naming all problems */
export function readSettings(env: Environment): Config {
  try {
    return readConfig(env)
  } catch (error) {
    const hint = env.KEYS_TABLE === undefined ? 'Say which deployment, with --local or --stage <name>. ' : ''
    throw new CommandError('bad_configuration', hint + (error as Error).message, { exitCode: 2, cause: error })
  }
}

/** @param env the environment of a deployment's functions: the stores are as these see them */
export function connect(env: Environment) {
  const config = readSettings(env)
  const now = Date.now
  const dynamoDb = createDynamoDbClient()
  const s3 = createS3Client({ forcePathStyle: config.s3ForcePathStyle })
  const stores = openStores({ config, dynamoDb, s3, now })
  const { defaultQuotaBytes } = config
  return { ...stores, apiKeys: stores.keyAdministration, config, defaultQuotaBytes, log: SILENT, dynamoDb, s3 }
}

/** The environment of the target's functions. Sets what the AWS clients of this process need to reach it. */
export async function environmentOf(target: Target, signal: AbortSignal): Promise<Environment> {
  if (target.local) return useLocalService(target.directory)
  await useRegionOf(target)
  return target.stage === undefined ? process.env : readDeployedEnvironment(target.stage, signal)
}

/** Makes this process's AWS clients use the target's region, found as a deployment does (infra/deploy/variables.ts). */
export async function useRegionOf({ stage, region }: Target): Promise<void> {
  // Other AWS tools read AWS_DEFAULT_REGION; this SDK does not.
  const found = region ?? (await ownRegion(stage)) ?? (process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION)
  if (found) process.env.AWS_REGION = found
  // An empty value would keep the SDK from asking the profile.
  else delete process.env.AWS_REGION
}

async function ownRegion(stage: string | undefined): Promise<string | undefined> {
  if (stage === undefined) return undefined
  const { readOwnSettings } = await import('../deploy/settings.ts')
  try {
    const { region } = readOwnSettings(stage)
    return region ? String(region) : undefined
  } catch (error) {
    throw new CommandError('bad_configuration', (error as Error).message, { exitCode: 2, cause: error })
  }
}

async function readDeployedEnvironment(stage: string, abortSignal: AbortSignal): Promise<Environment> {
  const FunctionName = `${stackNameOf(stage)}-promote-container-file`
  const { Lambda } = await import('@aws-sdk/client-lambda')
  const client = new Lambda({ maxAttempts: 3, requestHandler: connectionsOf(1, { requestTimeout: 5000 }) })
  const found = await client.getFunctionConfiguration({ FunctionName }, { abortSignal }).catch(unlessMissing)
  if (found !== undefined) return found.Environment?.Variables ?? {}
  const message = `The stage "${stage}" is not deployed in this account and region: there is no function ${FunctionName}.`
  throw new CommandError('not_deployed', message, { exitCode: 2 })
}

export async function useLocalService(directory: string): Promise<Environment> {
  const demo = await readDemoFile(directory).catch(() => undefined)
  // A service that has stopped leaves addresses at which nothing listens any more.
  if (!demo || !(await fetch(demo.dynamodb_endpoint).catch(() => undefined))) {
    const message = `The local service does not run: start it with npm start. (Its data would be in ${directory}.)`
    throw new CommandError('not_running', message, { exitCode: 2 })
  }
  process.env.AWS_REGION ||= 'us-east-1'
  // The SDK would take a profile first.
  if (demo.aws_credentials !== undefined) delete process.env.AWS_PROFILE
  Object.assign(process.env, demo.aws_credentials)
  process.env.AWS_ACCESS_KEY_ID ||= 'local'
  process.env.AWS_SECRET_ACCESS_KEY ||= 'local'
  process.env.AWS_ENDPOINT_URL_DYNAMODB = demo.dynamodb_endpoint
  process.env.AWS_ENDPOINT_URL_S3 = demo.s3_endpoint
  return demo.environment
}
