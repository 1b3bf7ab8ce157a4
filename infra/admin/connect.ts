import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createApiKeyAdministration } from '../../lib/aws/api-key-administration.ts'
import { createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { createWorkspaceAdministration } from '../../lib/aws/workspace-administration.ts'
import { createWorkspaceRemoval } from '../../lib/aws/workspace-removal.ts'
import { createWorkspaceStores } from '../../lib/aws/workspace-stores.ts'
import { type Config, type Environment, readConfig } from '../../lib/config.ts'
import type { Log } from '../../lib/logging.ts'
import type { DemoFileContent } from '../local/demo-file.ts'
import { CommandError } from './command-error.ts'
import { useRegionOf } from './region.ts'

/** Which deployment a command is about. */
export interface Target {
  local: boolean
  /** Of the local service. */
  directory: string
  stage?: string
  region?: string
}

/** The command line prints its own messages. */
const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }

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

/** The stores of a deployment, as its functions see them. @param env the functions' environment */
export function connect(env: Environment) {
  const config = readSettings(env)
  const now = Date.now
  const client = createDynamoDbClient()
  const s3 = createS3Client({ forcePathStyle: config.s3ForcePathStyle })
  const ledgerSettings = { ...config, client, tableName: config.workspacesTable, now }
  return {
    ...createWorkspaceStores({ config, dynamoDb: client, s3, now }),
    config,
    log: SILENT,
    workspaces: createWorkspaceAdministration(ledgerSettings),
    workspaceRemoval: createWorkspaceRemoval(ledgerSettings),
    apiKeys: createApiKeyAdministration({ client, tableName: config.keysTable }),
    dynamoDb: client,
    s3,
  }
}

/** The environment of the target's functions. Sets what the AWS clients of this process need to reach it. */
export async function environmentOf(target: Target, signal: AbortSignal): Promise<Environment> {
  if (target.local) return useLocalService(target.directory)
  useRegionOf(target)
  if (target.stage === undefined) return process.env
  const { readDeployedEnvironment } = await import('./deployed-environment.ts')
  return readDeployedEnvironment(target.stage, signal)
}

function notRunning(sign: string): CommandError {
  return new CommandError('not_running', `The local service does not run: start it with npm start. (${sign})`, {
    exitCode: 2,
  })
}

export async function useLocalService(directory: string): Promise<Environment> {
  const file = join(directory, 'demo.json')
  const demo: Partial<DemoFileContent> = await readFile(file, 'utf8')
    .then(JSON.parse)
    .catch(() => ({}))
  if (!demo.environment || !demo.dynamodb_endpoint || !demo.s3_endpoint) {
    throw notRunning(`${file} is not there or not of this version`)
  }
  // A stopped service leaves addresses at which nobody listens any more.
  await fetch(demo.dynamodb_endpoint).catch(() => {
    throw notRunning(`nobody answers at ${demo.dynamodb_endpoint}`)
  })
  process.env.AWS_REGION ||= 'us-east-1'
  process.env.AWS_ACCESS_KEY_ID ||= 'local'
  process.env.AWS_SECRET_ACCESS_KEY ||= 'local'
  process.env.AWS_ENDPOINT_URL_DYNAMODB = demo.dynamodb_endpoint
  process.env.AWS_ENDPOINT_URL_S3 = demo.s3_endpoint
  return demo.environment
}
