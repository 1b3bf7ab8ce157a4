import { APIGateway } from '@aws-sdk/client-api-gateway'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { EventBridge } from '@aws-sdk/client-eventbridge'
import { Lambda } from '@aws-sdk/client-lambda'
import { S3 } from '@aws-sdk/client-s3'
import type { Settings } from './account-rules.ts'
import { describeTable, problemsInIndexes, unlessMissing } from './describe-table.ts'
import { explainAwsFailure } from './explain-aws-failure.ts'
import { functions } from './functions.ts'
import { resourcesOf } from './stack.ts'

export interface Deployment {
  stackName: string
  settings: Settings
  /** All tables of serverless.yml, with the indexes that are read. If the parameter names a table, `name` is that. */
  tables: readonly { parameter: string; name: string; indexes: readonly string[] }[]
}

/** What looks for problems, by the rights that it takes. */
const LOOKS: Record<string, (deployment: Deployment, warnings: string[]) => AsyncGenerator<string>> = {
  'apigateway:GET on /account and cloudformation:ListStackResources': problemsInGatewayLogRole,
  'lambda:GetAccountSettings and GetFunctionConcurrency': problemsInConcurrency,
  'cloudformation:ListStackResources and dynamodb:DescribeTable': problemsInTables,
  'cloudformation:ListStackResources and s3:GetEncryptionConfiguration': problemsInBuckets,
  'events:DescribeEventBus': problemsInEvents,
}

/** Looks in the account for anything that would make the deployment fail halfway. Changes nothing. */
export async function examineAccount(deployment: Deployment) {
  const [problems, warnings]: [string[], string[]] = [[], []]
  for (const [rights, look] of Object.entries(LOOKS)) {
    try {
      for await (const problem of look(deployment, warnings)) problems.push(problem)
    } catch (error) {
      if (!isDenied(error)) throw error
      warnings.push(`these credentials lack ${rights}: not looked at before the deployment`)
    }
  }
  return { problems, warnings }
}

/** API Gateway developer guide, "Set up CloudWatch logging": one role for all APIs of an account in a region. */
async function* problemsInGatewayLogRole({ stackName, settings }: Deployment): AsyncGenerator<string> {
  const isAskedFor = String(settings.createGatewayLogRole) === 'true'
  const { cloudwatchRoleArn: role } = await new APIGateway().getAccount()
  const none = 'API Gateway has no role to write logs with in this account and region'
  if (!role && !isAskedFor) yield `${none}: add --param createGatewayLogRole=true, once for all stages`
  // It is known by its name: the role of a first deployment that failed may have gone with its stack. CloudFormation
  // cuts the stack's name to 36 characters, so that the logical id and a random end fit into the 64 of a role's name.
  if (role && isAskedFor && !role.includes(`/${stackName.slice(0, 36)}-GatewayLogRole-`))
    yield `createGatewayLogRole is true, but API Gateway has a role for logs in this account and region (${role}): leave it out, and that one is used`
}

/** Lambda developer guide, "Reserved concurrency": this much must stay unreserved; smaller accounts can't reserve. */
const MIN_UNRESERVED = 100
const RESOLVER_RUNS = functions().resolveDueWork?.events.length ?? 0

async function* problemsInConcurrency({ stackName, settings }: Deployment, warnings: string[]): AsyncGenerator<string> {
  const auditShards = Number(settings.auditShards)
  const wanted = Number(settings.reservedConcurrency || 0)
  const client = new Lambda()
  const { AccountLimit } = await client.getAccountSettings()
  const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit ?? {}
  const FunctionName = `${stackName}-promote-container-file`
  const own = wanted > 0 ? await client.getFunctionConcurrency({ FunctionName }).catch(unlessMissing) : undefined
  const left = unreserved - wanted + (own?.ReservedConcurrentExecutions ?? 0)
  const least = Math.min(MIN_UNRESERVED, limit)
  if (wanted > 0 && left < least) {
    yield `reservedConcurrency is ${wanted}, which leaves ${left} of the account's ${limit} concurrent executions unreserved, and Lambda keeps ${least}: leave it out, or raise Lambda's quota "Concurrent executions"`
    return
  }
  // Audit and resolver are to leave the requests at least half of it.
  const fitting = Math.floor(left / 2) - RESOLVER_RUNS
  const orFewer = fitting > 0 ? `, or set auditShards=${fitting}` : ''
  if (auditShards > fitting)
    warnings.push(
      `${left} functions may run at once in this account and region, and a round of the audit (${auditShards} shards) and the resolver (${RESOLVER_RUNS} runs) take most of that from the requests: raise Lambda's quota "Concurrent executions"${orFewer}`,
    )
}

const TABLES_TIMEOUT_MS = 60_000

async function* problemsInTables({ stackName, settings, tables }: Deployment): AsyncGenerator<string> {
  const client = new DynamoDB()
  const signal = AbortSignal.timeout(TABLES_TIMEOUT_MS)
  const resources = await resourcesOf(stackName)
  for (const { parameter, name, indexes } of tables) {
    const isExisting = Boolean(settings[parameter])
    if (!isExisting && resources.some(({ physicalId }) => physicalId === name)) continue
    const table = await describeTable(name, client, signal)
    const foreign = `table ${name} is there already, and not of this stack`
    if (!isExisting && table) yield `${foreign}: keep using it with ${parameter}=${name}, or delete it`
    if (isExisting && !table) yield `${parameter} is "${name}": there is no such table`
    if (!isExisting || !table) continue
    for (const problem of problemsInIndexes(table, indexes)) yield `${parameter} is "${name}": ${problem}`
    const { documentsStreamArn } = settings
    if (parameter === 'documentsTable' && documentsStreamArn && documentsStreamArn !== table.LatestStreamArn)
      yield `documentsStreamArn is "${documentsStreamArn}": ${name} has ${table.LatestStreamArn ?? 'none'}`
  }
}

/** What is put on a bus that is not there is lost in silence. */
async function* problemsInEvents({ settings: { eventBus } }: Deployment): AsyncGenerator<string> {
  if (eventBus && !(await new EventBridge().describeEventBus({ Name: eventBus }).catch(unlessMissing)))
    yield `eventBus is "${eventBus}": there is no such bus in this account and region`
}

/** The settings of the keys of created buckets. */
const KEYS: Record<string, string> = { SandboxBucket: 'sandboxKmsKeyArn', DocumentsBucket: 'documentsKmsKeyArn' }

/** A bucket must lose neither the key that it has now, without which nothing in it can be read, nor documents. */
async function* problemsInBuckets({ stackName, settings }: Deployment): AsyncGenerator<string> {
  const { documentsBucket, sandboxKeyTemplate = '', documentKeyTemplate = '' } = settings
  const beginnings = [sandboxKeyTemplate, documentKeyTemplate].map((text) => text.replace(/\{.*/, ''))
  const [first = '', second = ''] = beginnings.toSorted()
  for (const { logicalId, physicalId: Bucket } of await resourcesOf(stackName)) {
    const name = KEYS[logicalId]
    if (name === undefined) continue
    // Keys that begin like a sandbox's expire there, even when the stack has given the bucket up.
    if (logicalId === 'SandboxBucket' && Bucket === documentsBucket && second.startsWith(first))
      yield `documentsBucket is "${Bucket}", the created sandbox bucket, where documents would expire after sandboxDays: let sandboxKeyTemplate and documentKeyTemplate begin with different fixed segments, or name another bucket`
    const { ServerSideEncryptionConfiguration } = await new S3().getBucketEncryption({ Bucket })
    const key = ServerSideEncryptionConfiguration?.Rules?.[0]?.ApplyServerSideEncryptionByDefault?.KMSMasterKeyID
    const named = `${settings[name]},${settings.formerKmsKeyArns}`.split(',')
    if (key && !named.includes(key))
      yield `${name} was "${key}", with which what is in ${Bucket} is encrypted: add it to formerKmsKeyArns`
  }
}

const isDenied = (error: unknown) => explainAwsFailure(error).reason === 'access_denied'
