import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudFormation } from '@aws-sdk/client-cloudformation'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { EventBridge } from '@aws-sdk/client-eventbridge'
import { Lambda } from '@aws-sdk/client-lambda'
import { S3 } from '@aws-sdk/client-s3'
import { expect, vi } from 'vitest'
import { resourcesOf } from '../../../../infra/deploy/stack.ts'
import { type FilePath, formatFileId } from '../../../../lib/ids.ts'
import { matches } from '../../stream-records.ts'
import { accessesOfStack } from '../../template/cloudformation-accesses.ts'
import type { Statement } from '../../template/iam-policies.ts'
import { copyProject, serverless } from '../../template/packages.ts'
import { PLACEHOLDERS, statementsOfPolicies } from '../../template/policy-files.ts'
import { type AdminResult, jsonLines, runAdmin } from '../admin.ts'
import { type DeployedApi, serveDeployed } from './deployed-api.ts'
import { MOCK_ACCOUNT, startGate } from './gate.ts'
import { startMockAccount } from './start.ts'

export const STACK = 'container-file-promotion-prod'
const REGION = 'eu-west-1'
export const WEB_ACL = `arn:aws:wafv2:${REGION}:111122223333:regional/webacl/main/0aaaaaaa-1111-2222-3333-444444444444`
/** The key of tables, where they have one of their own. */
export const TABLES_KEY = `arn:aws:kms:${REGION}:${MOCK_ACCOUNT}:key/0bbbbbbb-1111-2222-3333-444444444444`
/** Files of 8 MiB are copied in parts, too, and take moto less time than those of 64 MiB. */
export const SMALL_PARTS = { multipartThresholdBytes: '8388608' }

/** The rights each command is to need: what docs/policies has for it. An administrator does everything else. */
const POLICIES = {
  deployer: ['deployer', 'deployer-2'],
  smoke: ['smoke'],
  doctor: ['doctor'],
  restore: ['restore'],
  workflow: ['deployer', 'deployer-2', 'doctor', 'smoke', 'restore', 'trial'],
} as const
export type Identity = keyof typeof POLICIES
const isIdentity = (word: string | undefined): word is Identity => word !== undefined && word in POLICIES

/** The rights of an identity in the mock account, whose API has any id. @param names of policies, instead of all */
export const rightsOf = (identity: Identity, names: readonly string[] = POLICIES[identity]): Statement[] => {
  const STAGE = identity === 'workflow' ? 'aws-trial' : 'prod'
  const stack = STACK.replace(/prod$/, STAGE)
  return statementsOfPolicies(names, {
    ...PLACEHOLDERS,
    ACCOUNT: MOCK_ACCOUNT,
    STAGE,
    WEB_ACL_ARN: WEB_ACL,
    TABLES_KEY_ARN: TABLES_KEY,
    SANDBOX_BUCKET: `${stack}-sandboxbucket-*`,
    DOCUMENTS_BUCKET: `${stack}-documentsbucket-*`,
  })
}

export type Stage = Awaited<ReturnType<typeof startStage>>

/**
 * A stage in an account of its own, where nothing is deployed yet: what its operators do, and what is there. The
 * AWS clients of this process are set to the account until it stops. @param common settings of all its deployments
 */
export async function startStage(common: Record<string, string> = {}, name = 'prod') {
  const stackName = STACK.replace(/prod$/, name)
  const FunctionName = `${stackName}-promote-container-file`
  const directory = await mkdtemp(join(tmpdir(), 'promotion-account-'))
  const project = join(directory, 'project')
  await copyProject(project, ['infra', 'lib', 'dist'])
  await mkdir(join(project, 'settings'))
  const account = await startMockAccount(directory, REGION)
  const gate = await startGate(account.endpoint, Object.keys(POLICIES))
  account.environment.AWS_ENDPOINT_URL = gate.endpoint
  // This account is done at once: the framework need not wait five seconds between its looks.
  account.environment.SLS_AWS_MONITORING_FREQUENCY = '200'
  const as = (identity: string | undefined): Record<string, string> => ({
    ...account.environment,
    ...(isIdentity(identity) ? { AWS_ACCESS_KEY_ID: identity } : {}),
  })
  for (const [name, value] of Object.entries(account.environment)) vi.stubEnv(name, value)
  const apis: DeployedApi[] = []

  const admin = (...args: string[]): Promise<AdminResult> => runAdmin(['--stage', name, ...args], as(args[0]))

  /** @returns its output, and whether it succeeded */
  async function framework(...args: string[]): Promise<{ hasSucceeded: boolean; output: string }> {
    // Only the settings say in which region.
    const env = { ...as('deployer'), AWS_REGION: '', PROMOTION_BUILD: 'skip' }
    const outcome = await serverless([...args, '--stage', name], project, env).catch((error) => error)
    return { hasSucceeded: !(outcome instanceof Error), output: `${outcome.stdout}${outcome.stderr}` }
  }

  async function environmentOfFunction(): Promise<Record<string, string>> {
    return (await new Lambda({}).getFunctionConfiguration({ FunctionName })).Environment?.Variables ?? {}
  }

  // moto gives a stack no outputs that a change set has brought.
  const physicalId = async (id: string) =>
    (await resourcesOf(stackName)).find(({ logicalId }) => logicalId === id)?.physicalId ?? ''

  const mappings = async () => (await new Lambda({}).listEventSourceMappings({})).EventSourceMappings ?? []
  /** Asks DynamoDB Streams, for which there is no client here. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer of another form for each action
  async function streams(action: string, input: object): Promise<any> {
    // moto checks whether a request is signed, not by whom.
    const authorization = `AWS4-HMAC-SHA256 Credential=test/20261121/${REGION}/dynamodb/aws4_request, Signature=x`
    const headers = { authorization, 'x-amz-target': `DynamoDBStreams_20120810.${action}` }
    const answer = await fetch(account.endpoint, { method: 'POST', headers, body: JSON.stringify(input) })
    return answer.json()
  }

  /** Serves what is deployed, from now on. */
  async function serve(): Promise<DeployedApi> {
    const api = await serveDeployed(stackName, account, join(directory, `tasks-${apis.length}`))
    apis.push(api)
    return api
  }

  let place = { StreamArn: '', ShardIterator: '' }
  let ownSettings: Record<string, string> = {}
  let firstTimestamp: string | undefined
  return {
    /** Where `serverless` runs. */
    project,
    failOn: account.failOn,
    /** What a process needs for acting as an identity. */
    as,
    /** By identity: what its requests need. */
    asked: gate.asked,
    admin,
    framework,
    /** What CloudFormation does for the deployer counts as its own doing. */
    async deploy(...args: string[]) {
      const outcome = await framework('deploy', ...args)
      const template = await readFile(join(project, '.serverless/cloudformation-template-update-stack.json'), 'utf8')
      const place = { stackName, account: MOCK_ACCOUNT, region: REGION }
      gate.asked.get('deployer')?.push(...accessesOfStack(JSON.parse(template).Resources, place))
      return outcome
    },
    /** Rolls back to the first deployment, from what the framework kept of it. */
    async rollBack() {
      firstTimestamp ??= /Timestamp: (\d+)/.exec((await framework('deploy', 'list')).output)?.[1] ?? ''
      return framework('rollback', '--timestamp', firstTimestamp)
    },
    environmentOfFunction,

    /** Writes the settings of the stage. @param more in addition to those that every stage here has */
    settings(more: Record<string, string> = {}): Promise<void> {
      ownSettings = {
        region: REGION,
        alarmEmail: 'ops@example.com',
        createGatewayLogRole: 'true',
        sandboxWriters: `arn:aws:iam::${MOCK_ACCOUNT}:role/team/ecs-runner`,
        permissionsBoundaryArn: `arn:aws:iam::${MOCK_ACCOUNT}:policy/container-file-promotion-boundary`,
        ...common,
        ...more,
      }
      const text = Object.entries(ownSettings).map(([name, value]) => `${name}: ${value}\n`)
      return writeFile(join(project, `settings/${name}.yml`), text.join(''))
    },
    ownSettings: () => ownSettings,

    /** What there is for events: the mapping, the stream's table, and the name of the function's role. */
    async events() {
      const { Table: table = {} } = await new DynamoDB({}).describeTable({ TableName: `${stackName}-documents` })
      return { mappings: await mappings(), table, role: await physicalId('PublishEventsRole') }
    },
    /** Plays the mapping, as Lambda does, from where it was. @returns what is to come again */
    async publishEvents(): Promise<object[]> {
      const [{ EventSourceArn: StreamArn, FilterCriteria } = {}] = await mappings()
      if (place.StreamArn !== StreamArn) {
        const { ShardId } = (await streams('DescribeStream', { StreamArn })).StreamDescription.Shards[0]
        const asked = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }
        place = { ...(await streams('GetShardIterator', asked)), StreamArn }
      }
      const patterns = (FilterCriteria?.Filters ?? []).map(({ Pattern = '' }) => JSON.parse(Pattern))
      const failures: object[] = []
      const api = apis.at(-1) as DeployedApi
      for (let length = 1; length > 0; ) {
        const page = await streams('GetRecords', { ShardIterator: place.ShardIterator })
        place.ShardIterator = page.NextShardIterator
        length = page.Records.length
        const passed = page.Records.filter((record: object) => patterns.some((each) => matches(each, record)))
        // moto takes a tenth of a second for each event.
        for (let at = 0; at < passed.length; at += 10)
          failures.push(...(await api.publish({ Records: passed.slice(at, at + 10) })).batchItemFailures)
      }
      return failures
    },
    /** The address of the queue of what makes no event. */
    eventsQueue: () => physicalId('EventsQueue'),
    /** Invokes the function. */
    publish: (event: object) => apis.at(-1)?.publish(event),

    async tables(): Promise<string[]> {
      return (await new DynamoDB({}).listTables({})).TableNames ?? []
    },
    /** The keys that tables are encrypted with, each once. */
    async keysOfTables(...names: string[]): Promise<unknown[]> {
      const described = names.map((TableName) => new DynamoDB({}).describeTable({ TableName }))
      const keys = (await Promise.all(described)).map(({ Table }) => Table?.SSEDescription?.KMSMasterKeyArn)
      return [...new Set(keys)]
    },
    async stack() {
      const { Stacks } = await new CloudFormation({}).describeStacks({ StackName: stackName })
      return Stacks?.[0]
    },
    async liveVersion(): Promise<string | undefined> {
      return (await new Lambda({}).getAlias({ FunctionName, Name: 'live' })).FunctionVersion
    },
    /** The schedules and concurrency, which stop and resume change. */
    async state() {
      const { Rules = [] } = await new EventBridge({}).listRules({})
      const { ReservedConcurrentExecutions } = await new Lambda({}).getFunctionConcurrency({ FunctionName })
      return { reserved: ReservedConcurrentExecutions, schedules: [...new Set(Rules.map(({ State }) => State))] }
    },
    /** The service's buckets, without the framework's own. */
    async keptBuckets(): Promise<string[]> {
      const { Buckets = [] } = await new S3({ forcePathStyle: true }).listBuckets({})
      return Buckets.map(({ Name = '' }) => Name).filter((name) => !name.includes('serverlessdeployment'))
    },

    serve,
    /** Has the next look of an erasure due now, and goes on with it. */
    async erase(workspace: string) {
      const TableName = `${stackName}-workspaces`
      const due = { ExpressionAttributeValues: { ':now': { N: '1' } }, UpdateExpression: 'SET erasure_due_at = :now' }
      await new DynamoDB({}).updateItem({ TableName, Key: { workspace_id: { S: workspace } }, ...due })
      return apis.at(-1)?.erase()
    },
    /** Serves it, and smoke-tests it, with its resolver running. */
    async smoke(): Promise<{ code: number; problems: string[] }> {
      const api = await serve()
      const resolving = setInterval(api.resolve, 2000)
      const { code, stdout } = await admin('smoke', '--no-telemetry', '--base-url', api.baseUrl)
      clearInterval(resolving)
      return { code, problems: stdout.split('\n').filter((line) => line.startsWith('PROBLEM')) }
    },
    /** Promotes through the API that was served last. @returns the document's id */
    async promoteInto(workspace: string): Promise<string> {
      const { SANDBOX_BUCKET: Bucket } = await environmentOfFunction()
      const Key = `sandboxes/${workspace}/sess_a/report.csv`
      await new S3({ forcePathStyle: true }).putObject({ Bucket, Key, Body: 'a;b\n' })
      const create = ['keys', 'create', '--workspace', workspace, '--permission', 'files:promote', '--json']
      const [created] = jsonLines(await admin(...create))
      const url = `${apis.at(-1)?.baseUrl}/containers/sess_a/files/${formatFileId('report.csv' as FilePath)}/promote`
      const headers = { authorization: `Bearer ${created?.token}`, 'file-shape': 'native' }
      const answer = await fetch(url, { method: 'POST', headers })
      expect(answer.status).toBe(200)
      return ((await answer.json()) as { id: string }).id
    },

    async stop(): Promise<void> {
      vi.unstubAllEnvs()
      await Promise.all(apis.map((api) => api.stop()))
      await gate.stop()
      account.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Expects a table to have what the template gives each: expiry, and backups to any point in time. */
export async function expectBackedUp(TableName: string): Promise<void> {
  const client = new DynamoDB({})
  const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName })
  expect(TimeToLiveDescription).toMatchObject({ TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl_at' })
  const { ContinuousBackupsDescription } = await client.describeContinuousBackups({ TableName })
  const status = ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus
  expect(status).toBe('ENABLED')
}
