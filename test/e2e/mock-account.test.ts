import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudFormationClient, DescribeStacksCommand, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation'
import {
  DeleteItemCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTablesCommand,
} from '@aws-sdk/client-dynamodb'
import { EventBridgeClient, ListRulesCommand } from '@aws-sdk/client-eventbridge'
import {
  GetAliasCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda'
import { GetBucketPolicyCommand, ListBucketsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type FilePath, formatFileId } from '../../lib/ids.ts'
import { type AdminResult, jsonLines, runAdminProcess } from '../support/admin.ts'
import { type DeployedApi, serveDeployed } from '../support/mock-account/deployed-api.ts'
import { isMotoInstalled, type MockAccount, startMockAccount } from '../support/mock-account/start.ts'
import { createTranscript } from '../support/mock-account/transcript.ts'
import { copyProject, serverless } from '../support/packages.ts'

const STACK = 'container-file-promotion-prod'
const FUNCTION = `${STACK}-promote-container-file`
const REGION = 'eu-west-1'
const MINUTES_MS = 60_000

const isInstalled = isMotoInstalled()
if (!isInstalled)
  console.warn(
    "moto is not installed (pip install 'moto[server]'), so test/e2e/mock-account.test.ts checks nothing here",
  )
vi.setConfig({ testTimeout: 8 * MINUTES_MS, hookTimeout: 5 * MINUTES_MS })

// One story, from nothing to the return of what was kept: each test goes on where the one before it has ended.
describe.runIf(isInstalled)('a stage in an account, from its first deployment to its return', () => {
  let directory: string
  let project: string
  let account: MockAccount
  const apis: DeployedApi[] = []
  const transcript = createTranscript()

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'promotion-account-'))
    project = join(directory, 'project')
    await copyProject(project, ['infra', 'lib', 'dist'])
    await mkdir(join(project, 'settings'))
    account = await startMockAccount(directory, REGION)
    for (const [name, value] of Object.entries(account.environment)) vi.stubEnv(name, value)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await Promise.all(apis.map((api) => api.stop()))
    account.stop()
    await transcript.write(process.env.TRANSCRIPT, [project, directory])
    await rm(directory, { recursive: true, force: true })
  })

  let ownSettings: Record<string, string> = {}
  const settings = (more: Record<string, string> = {}) => {
    ownSettings = { region: REGION, alarmEmail: 'ops@example.com', createGatewayLogRole: 'true', ...more }
    const text = Object.entries(ownSettings).map(([name, value]) => `${name}: ${value}\n`)
    transcript.note('cat settings/prod.yml', text.join(''))
    return writeFile(join(project, 'settings/prod.yml'), text.join(''))
  }
  /** What it printed, and whether it succeeded. */
  async function framework(...args: string[]): Promise<{ conditionHeld: boolean; output: string }> {
    const { AWS_REGION: _, ...environment } = account.environment
    // The settings alone say where.
    const env = { ...environment, AWS_REGION: '', PROMOTION_BUILD: 'skip' }
    const words = [...args, '--stage', 'prod']
    const outcome = await serverless(words, project, env).catch((error) => error)
    const [conditionHeld, output] = [!(outcome instanceof Error), `${outcome.stdout}${outcome.stderr}`]
    transcript.note(`npx serverless ${words.join(' ')}`, output)
    return { conditionHeld, output }
  }
  const deploy = (...args: string[]) => framework('deploy', ...args)
  async function admin(...args: string[]): Promise<AdminResult> {
    const result = await runAdminProcess(['--stage', 'prod', ...args], account.environment)
    const { code, stdout, stderr } = result
    transcript.note(`npm run admin -- --stage prod ${args.join(' ')}`, `${stdout}${stderr}(exit code ${code})`)
    return result
  }
  const tables = async () => (await new DynamoDBClient({}).send(new ListTablesCommand({}))).TableNames ?? []
  const stack = async () => {
    const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName: STACK }))
    return Stacks?.[0]
  }
  const liveVersion = async () => {
    const command = new GetAliasCommand({ FunctionName: FUNCTION, Name: 'live' })
    return (await new LambdaClient({}).send(command)).FunctionVersion
  }
  const environmentOfFunction = async () => {
    const command = new GetFunctionConfigurationCommand({ FunctionName: FUNCTION })
    return (await new LambdaClient({}).send(command)).Environment?.Variables ?? {}
  }
  async function smoke() {
    const api = await serveDeployed(STACK, account, join(directory, `tasks-${apis.length}`))
    apis.push(api)
    const { code, stdout } = await admin('smoke', '--no-telemetry', '--base-url', api.baseUrl)
    return { code, problems: stdout.split('\n').filter((line) => line.startsWith('PROBLEM')) }
  }

  it('refuses an account without a role for gateway logs, before anything is there', async () => {
    await settings({ createGatewayLogRole: 'false' })
    const { conditionHeld, output } = await deploy()
    expect(conditionHeld).toBe(false)
    expect(output).toContain('add --param createGatewayLogRole=true, once for all stages')
    await expect(stack()).rejects.toThrow(/does not exist/)
  })

  it('leaves no table behind when the first deployment fails, and succeeds the second time', async () => {
    await settings()
    await account.failOn('Dashboard')
    expect((await deploy()).conditionHeld).toBe(false)
    expect(await tables()).toEqual([])
    await account.failOn()
    const { conditionHeld, output } = await deploy()
    expect([conditionHeld, output]).toEqual([true, expect.stringContaining('Service deployed to stack')])
  })

  it('protects the stack and its tables', async () => {
    expect((await stack())?.EnableTerminationProtection).toBe(true)
    const names = await tables()
    expect(names).toContain(`${STACK}-keys`)
    for (const TableName of names) {
      const { Table } = await new DynamoDBClient({}).send(new DescribeTableCommand({ TableName }))
      expect(Table?.DeletionProtectionEnabled, TableName).toBe(true)
    }
  })

  it('changes nothing by a deployment without a change', async () => {
    const { conditionHeld, output } = await deploy()
    expect([conditionHeld, output]).toEqual([true, expect.stringContaining('No changes to deploy')])
  })

  it('makes no second role for gateway logs, nor takes the first away', async () => {
    await settings({ createGatewayLogRole: 'false' })
    expect((await deploy()).conditionHeld).toBe(true)
    const { StackResourceSummaries = [] } = await new CloudFormationClient({}).send(
      new ListStackResourcesCommand({ StackName: STACK }),
    )
    expect(StackResourceSummaries.map(({ LogicalResourceId }) => LogicalResourceId)).not.toContain('GatewayLogRole')
  })

  it('is administered, and serves by the zips that were uploaded', async () => {
    expect((await admin('workspaces', 'create', 'ws_kept', '--quota', '5MiB')).code).toBe(0)
    const { code, problems } = await smoke()
    expect([code, problems]).toEqual([0, []])
  })

  it('is seen to be complete, protected, and private, by doctor', async () => {
    expect((await admin('doctor')).code).toBe(0)
    const checks = jsonLines(await runAdminProcess(['--stage', 'prod', 'doctor', '--json'], account.environment))
    expect(checks.filter(({ verdict }) => verdict === 'problem')).toEqual([])
    const verdictOf = (name: RegExp) =>
      checks.filter(({ check }) => name.test(`${check}`)).map(({ verdict }) => verdict)
    expect(verdictOf(/^stack /)).toEqual(['ok'])
    expect(verdictOf(/^deletion protection of /)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(verdictOf(/^TLS only to /)).toEqual(['ok', 'ok'])
  })

  it('is rolled back when an upgrade fails, and takes the same upgrade afterwards', async () => {
    const before = await liveVersion()
    const upgrade = ['--param', 'leaseMs=90000', '--param', `webAclArn=${webAcl}`]
    await account.failOn('WebAclAssociation')
    expect((await deploy(...upgrade)).conditionHeld).toBe(false)
    expect([(await stack())?.StackStatus, await liveVersion()]).toEqual(['UPDATE_ROLLBACK_COMPLETE', before])
    await account.failOn()
    expect((await deploy(...upgrade)).conditionHeld).toBe(true)
    expect((await environmentOfFunction()).LEASE_MS).toBe('90000')
    expect(Number(await liveVersion())).toBeGreaterThan(Number(before))
  })
  const webAcl = `arn:aws:wafv2:${REGION}:111122223333:regional/webacl/main/0aaaaaaa-1111-2222-3333-444444444444`

  it('goes back to a former deployment', async () => {
    const { output } = await framework('deploy', 'list')
    const [timestamp = ''] = [...output.matchAll(/Timestamp: (\d+)/g)].map(([, time]) => time)
    expect((await framework('rollback', '--timestamp', timestamp)).conditionHeld).toBe(true)
    expect((await environmentOfFunction()).LEASE_MS).toBe('120000')
  })

  it('stops, and is resumed as it was deployed', async () => {
    const state = async () => {
      const { Rules = [] } = await new EventBridgeClient({}).send(new ListRulesCommand({}))
      const command = new GetFunctionConcurrencyCommand({ FunctionName: FUNCTION })
      const { ReservedConcurrentExecutions: reserved } = await new LambdaClient({}).send(command)
      return { reserved, schedules: [...new Set(Rules.map(({ State }) => State))] }
    }
    const deployed = await state()
    expect(deployed).toEqual({ reserved: undefined, schedules: ['ENABLED'] })
    expect((await admin('stop')).stderr).toContain('--yes')
    expect((await admin('stop', '--yes')).code).toBe(0)
    expect(await state()).toEqual({ reserved: 0, schedules: ['DISABLED'] })
    expect((await admin('resume')).code).toBe(0)
    expect(await state()).toEqual(deployed)
  })

  it('is not removed while it is protected', async () => {
    expect(await framework('remove')).toMatchObject({
      conditionHeld: false,
      output: expect.stringContaining('protect'),
    })
    expect((await stack())?.StackStatus).toMatch(/_COMPLETE$/)
  })

  it('keeps tables and buckets when it is removed, and the buckets their policies', async () => {
    expect((await deploy('--param', 'deletionProtection=false')).conditionHeld).toBe(true)
    expect((await framework('remove')).conditionHeld).toBe(true)
    expect(await tables()).toContain(`${STACK}-documents`)
    expect(await keptBuckets()).toHaveLength(2)
    for (const Bucket of await keptBuckets()) {
      const { Policy = '' } = await new S3Client({ forcePathStyle: true }).send(new GetBucketPolicyCommand({ Bucket }))
      expect(Policy).toContain('aws:SecureTransport')
    }
  })

  it('says how to return, instead of failing half way', async () => {
    const { conditionHeld, output } = await deploy()
    expect(conditionHeld).toBe(false)
    expect(output).toContain(`keep using it with keysTable=${STACK}-keys`)
  })

  it('returns to what was kept', async () => {
    const existing = Object.fromEntries(
      (await tables()).map((name) => {
        const kind = name.slice(STACK.length + 1).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
        return [`${kind}Table`, name]
      }),
    )
    const [sandboxBucket = '', documentsBucket = ''] = (await keptBuckets()).toSorted().toReversed()
    await settings({ createGatewayLogRole: 'false', ...existing, sandboxBucket, documentsBucket })
    const { conditionHeld, output } = await deploy()
    expect([conditionHeld, output]).toEqual([true, expect.stringContaining('Service deployed to stack')])
    expect((await admin('workspaces', 'show', 'ws_kept')).stdout).toContain('5 MiB')
    const { code, problems } = await smoke()
    expect([code, problems]).toEqual([0, []])
  })

  it('rehearses a restore, and removes what it restored', async () => {
    const before = await tables()
    const result = await admin('restore', 'rehearse', '--json')
    expect([result.code, result.stderr]).toEqual([0, ''])
    expect(jsonLines(result)).toMatchObject([{ kind: 'report', findings: 0, left: [] }])
    expect(await tables()).toEqual(before)
  })

  it('comes back from a damaged table by tables that were restored', async () => {
    const documentId = await promoteInto('ws_kept')
    const result = await admin('restore', 'tables', '--at', new Date().toISOString(), '--json')
    expect([result.code, result.stderr]).toEqual([0, ''])
    const restored = jsonLines(result).map(({ parameter, target }) => [`${parameter}`, `${target}`] as const)
    expect(restored.map(([parameter]) => parameter).toSorted()).toEqual([
      ...['documentsTable', 'reservationsTable', 'workspacesTable'],
    ])
    const { documentsTable = '' } = Object.fromEntries(restored)
    await expectBackedUp(documentsTable)

    const Key = marshall({ workspace_id: 'ws_kept', document_id: documentId })
    await new DynamoDBClient({}).send(new DeleteItemCommand({ TableName: `${STACK}-documents`, Key }))
    expect((await admin('audit', '--workspace', 'ws_kept')).code).toBe(1)

    expect((await admin('stop', '--yes')).code).toBe(0)
    await settings({ ...ownSettings, ...Object.fromEntries(restored) })
    expect((await deploy()).conditionHeld).toBe(true)
    expect((await admin('audit')).stdout).toContain('nothing is wrong')
    expect((await admin('documents', 'list', 'ws_kept')).stdout).toContain(documentId)
    expect((await admin('resume')).code).toBe(0)
  })

  async function promoteInto(workspace: string): Promise<string> {
    const { SANDBOX_BUCKET: Bucket } = await environmentOfFunction()
    const Key = `sandboxes/${workspace}/sess_a/report.csv`
    await new S3Client({ forcePathStyle: true }).send(new PutObjectCommand({ Bucket, Key, Body: 'a;b\n' }))
    const create = ['keys', 'create', '--workspace', workspace, '--permission', 'files:promote', '--json']
    // Not by way of the transcript: it has a token.
    const [created] = jsonLines(await runAdminProcess(['--stage', 'prod', ...create], account.environment))
    const url = `${apis.at(-1)?.baseUrl}/containers/sess_a/files/${formatFileId('report.csv' as FilePath)}/promote`
    const headers = { authorization: `Bearer ${created?.token}`, 'file-shape': 'native' }
    const answer = await fetch(url, { method: 'POST', headers })
    expect(answer.status).toBe(200)
    return ((await answer.json()) as { id: string }).id
  }

  async function expectBackedUp(TableName: string): Promise<void> {
    const client = new DynamoDBClient({})
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
    expect(TimeToLiveDescription).toMatchObject({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expires_at' })
    const { ContinuousBackupsDescription } = await client.send(new DescribeContinuousBackupsCommand({ TableName }))
    const status = ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus
    expect(status).toBe('ENABLED')
  }

  async function keptBuckets(): Promise<string[]> {
    const { Buckets = [] } = await new S3Client({ forcePathStyle: true }).send(new ListBucketsCommand({}))
    return Buckets.map(({ Name = '' }) => Name).filter((name) => !name.includes('serverlessdeployment'))
  }
})
