import { APIGatewayClient, GetAccountCommand } from '@aws-sdk/client-api-gateway'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DescribeEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import {
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  LambdaClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda'
import { GetBucketEncryptionCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { statusOf } from '../../lib/aws/calls/failures.ts'
import type { Settings } from './account-rules.ts'
import { describeTable, problemsInIndexes } from './describe-table.ts'
import { functions } from './functions.ts'
import { resourcesOf } from './stack.ts'

export interface Deployment {
  stackName: string
  settings: Settings
  /** All tables of serverless.yml, with the indexes that are read. If the parameter names a table, `name` is that. */
  tables: readonly { parameter: string; name: string; indexes: readonly string[] }[]
}

/** Looks in the account for anything that would make the deployment fail halfway. Changes nothing. */
export async function examineAccount(deployment: Deployment) {
  const [problems, warnings]: [string[], string[]] = [[], []]
  const looks: [rights: string, look: () => Promise<string[]>][] = [
    ['apigateway:GET on /account and cloudformation:ListStackResources', () => problemsInGatewayLogRole(deployment)],
    ['lambda:GetAccountSettings and GetFunctionConcurrency', () => problemsInConcurrency(deployment, warnings)],
    ['cloudformation:ListStackResources and dynamodb:DescribeTable', () => problemsInTables(deployment)],
    ['cloudformation:ListStackResources and s3:GetEncryptionConfiguration', () => problemsInBuckets(deployment)],
    ['events:DescribeEventBus or s3:ListBucket', () => problemsInTargets(deployment)],
  ]
  for (const [rights, look] of looks) {
    try {
      problems.push(...(await look()))
    } catch (error) {
      if (!isDenied(error)) throw error
      warnings.push(`these credentials lack ${rights}: not looked at before the deployment`)
    }
  }
  return { problems, warnings }
}

/** API Gateway developer guide, "Set up CloudWatch logging": one role for all APIs of an account in a region. */
async function problemsInGatewayLogRole({ stackName, settings }: Deployment): Promise<string[]> {
  const isAskedFor = String(settings.createGatewayLogRole) === 'true'
  const { cloudwatchRoleArn: role } = await new APIGatewayClient({}).send(new GetAccountCommand({}))
  // It is known by its name: the role of a first deployment that failed may have gone with its stack. CloudFormation
  // cuts the stack's name to 36 characters, so that the logical id and a random end fit into the 64 of a role's name.
  if (role && isAskedFor && !role.includes(`/${stackName.slice(0, 36)}-GatewayLogRole-`)) {
    return [
      `createGatewayLogRole is true, but API Gateway has a role for logs in this account and region (${role}): leave it out, and that one is used`,
    ]
  }
  if (role || isAskedFor) return []
  return [
    'API Gateway has no role to write logs with in this account and region: add --param createGatewayLogRole=true, once for all stages',
  ]
}

/** Lambda developer guide, "Reserved concurrency": this much must stay unreserved; smaller accounts can't reserve. */
const MIN_UNRESERVED = 100
const RESOLVER_RUNS = functions().resolveDueWork?.events.length ?? 0

async function problemsInConcurrency({ stackName, settings }: Deployment, warnings: string[]): Promise<string[]> {
  const auditShards = Number(settings.auditShards)
  const wanted = Number(settings.reservedConcurrency || 0)
  const { AccountLimit } = await new LambdaClient({}).send(new GetAccountSettingsCommand({}))
  const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit ?? {}
  const left = unreserved - wanted + (wanted > 0 ? await reservedBy(`${stackName}-promote-container-file`) : 0)
  const least = Math.min(MIN_UNRESERVED, limit)
  if (wanted > 0 && left < least)
    return [
      `reservedConcurrency is ${wanted}, which leaves ${left} of the account's ${limit} concurrent executions unreserved, and Lambda keeps ${least}: leave it out, or raise Lambda's quota "Concurrent executions"`,
    ]
  // Audit and resolver are to leave the requests at least half of it.
  const fitting = Math.floor(left / 2) - RESOLVER_RUNS
  const orFewer = fitting > 0 ? `, or set auditShards=${fitting}` : ''
  if (auditShards > fitting)
    warnings.push(
      `${left} functions may run at once in this account and region, and a round of the audit (${auditShards} shards) and the resolver (${RESOLVER_RUNS} runs) take most of that from the requests: raise Lambda's quota "Concurrent executions"${orFewer}`,
    )
  return []
}

async function reservedBy(FunctionName: string): Promise<number> {
  try {
    const command = new GetFunctionConcurrencyCommand({ FunctionName })
    return (await new LambdaClient({}).send(command)).ReservedConcurrentExecutions ?? 0
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return 0
    throw error
  }
}

const TABLES_TIMEOUT_MS = 60_000

async function problemsInTables(deployment: Deployment): Promise<string[]> {
  const client = new DynamoDBClient({})
  const signal = AbortSignal.timeout(TABLES_TIMEOUT_MS)
  const resources = await resourcesOf(deployment.stackName)
  const isOfStack = (name: string) => resources.some(({ physicalId }) => physicalId === name)
  const problems: string[] = []
  for (const { parameter, name, indexes } of deployment.tables) {
    const isExisting = Boolean(deployment.settings[parameter])
    if (!isExisting && isOfStack(name)) continue
    const table = await describeTable(name, client, signal)
    if (!isExisting && table)
      problems.push(
        `table ${name} is there already, and not of this stack: keep using it with ${parameter}=${name}, or delete it`,
      )
    if (isExisting && !table) problems.push(`${parameter} is "${name}": there is no such table`)
    if (!isExisting || !table) continue
    problems.push(...problemsInIndexes(table, indexes).map((problem) => `${parameter} is "${name}": ${problem}`))
    const { documentsStreamArn } = deployment.settings
    if (parameter === 'documentsTable' && documentsStreamArn && documentsStreamArn !== table.LatestStreamArn)
      problems.push(`documentsStreamArn is "${documentsStreamArn}": ${name} has ${table.LatestStreamArn ?? 'none'}`)
  }
  return problems
}

/** What is written to a bucket that is not there fails each day; what is put on such a bus is lost in silence. */
async function problemsInTargets({ settings: { eventBus, usageBucket } }: Deployment): Promise<string[]> {
  const problems: string[] = []
  const bus = new DescribeEventBusCommand({ Name: eventBus })
  if (eventBus && !(await isThere(new EventBridgeClient({}).send(bus))))
    problems.push(`eventBus is "${eventBus}": there is no such bus in this account and region`)
  const bucket = new HeadBucketCommand({ Bucket: usageBucket })
  if (usageBucket && !(await isThere(new S3Client({}).send(bucket))))
    problems.push(`usageBucket is "${usageBucket}": there is no such bucket in this region`)
  return problems
}

const isThere = (described: Promise<unknown>) =>
  described.then(
    () => true,
    (error) => {
      if (error.name === 'ResourceNotFoundException' || [301, 404].includes(statusOf(error) ?? 0)) return false
      throw error
    },
  )

/** The settings of the keys of created buckets. */
const KEYS: Record<string, string> = { SandboxBucket: 'sandboxKmsKeyArn', DocumentsBucket: 'documentsKmsKeyArn' }

/** A bucket must lose neither the key that it has now, without which nothing in it can be read, nor documents. */
async function problemsInBuckets({ stackName, settings }: Deployment): Promise<string[]> {
  const { documentsBucket, sandboxKeyTemplate = '', documentKeyTemplate = '' } = settings
  const beginnings = [sandboxKeyTemplate, documentKeyTemplate].map((text) => text.replace(/\{.*/, ''))
  const [first = '', second = ''] = beginnings.toSorted()
  const problems: string[] = []
  for (const { logicalId, physicalId: Bucket } of await resourcesOf(stackName)) {
    const name = KEYS[logicalId]
    if (name === undefined) continue
    // Keys that begin like a sandbox's expire there, even when the stack has given the bucket up.
    if (logicalId === 'SandboxBucket' && Bucket === documentsBucket && second.startsWith(first))
      problems.push(
        `documentsBucket is "${Bucket}", the created sandbox bucket, where documents would expire after sandboxDays: let sandboxKeyTemplate and documentKeyTemplate begin with different fixed segments, or name another bucket`,
      )
    const encryption = await new S3Client({}).send(new GetBucketEncryptionCommand({ Bucket }))
    const key =
      encryption.ServerSideEncryptionConfiguration?.Rules?.[0]?.ApplyServerSideEncryptionByDefault?.KMSMasterKeyID
    const named = `${settings[name]},${settings.formerKmsKeyArns}`.split(',')
    if (key && !named.includes(key))
      problems.push(`${name} was "${key}", with which what is in ${Bucket} is encrypted: add it to formerKmsKeyArns`)
  }
  return problems
}

const isDenied = (error: unknown) =>
  error instanceof Error && (/^AccessDenied|^UnauthorizedOperation/.test(error.name) || statusOf(error) === 403)
