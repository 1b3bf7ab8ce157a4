import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CloudWatch } from '@aws-sdk/client-cloudwatch'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { EventBridge } from '@aws-sdk/client-eventbridge'
import { Lambda } from '@aws-sdk/client-lambda'
import { S3 } from '@aws-sdk/client-s3'
import { SQS } from '@aws-sdk/client-sqs'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { keyOf } from '../../infra/deploy/functions.ts'
import { SERVERLESS_CLI } from '../../infra/deploy/serverless-cli.ts'
import { resourcesOf } from '../../infra/deploy/stack.ts'
import { fencedBlocks } from '../support/fenced-blocks.ts'
import { jsonLines, ROOT } from '../support/machine/admin.ts'
import { MOCK_ACCOUNT } from '../support/machine/mock-account/gate.ts'
import {
  expectBackedUp,
  type Identity,
  rightsOf,
  SMALL_PARTS,
  STACK,
  type Stage,
  startStage,
  TABLES_KEY,
  WEB_ACL,
} from '../support/machine/mock-account/stage.ts'
import { isMotoInstalled } from '../support/machine/mock-account/start.ts'
import { run, standIn } from '../support/machine/program.ts'
import { isAllowed, unusedRights } from '../support/template/iam-policies.ts'

vi.setConfig({ testTimeout: 480_000, hookTimeout: 300_000 })

// One story, from nothing to the return of what was kept: each test goes on where the one before it has ended.
describe.runIf(isMotoInstalled())('a stage in an account, from its first deployment to its return', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ ...SMALL_PARTS, tablesKmsKeyArn: TABLES_KEY })
  })
  afterAll(() => stage?.stop())

  const outcome = (hasSucceeded: boolean, said = '') => ({ hasSucceeded, output: expect.stringContaining(said) })
  const expectDeployed = async (...args: string[]) =>
    expect(await stage.deploy(...args)).toEqual(outcome(true, 'Service deployed to stack'))
  const expectRefused = async (why?: string, ...args: string[]) =>
    expect(await stage.deploy(...args)).toEqual(outcome(false, why))

  /** The bus files, as the team has it, with a queue as the target of all that the service puts on it. */
  const bus = {
    async make() {
      const { QueueUrl = '' } = await new SQS({}).createQueue({ QueueName: 'target' })
      const events = new EventBridge({})
      await events.createEventBus({ Name: 'files' })
      const EventPattern = JSON.stringify({ source: ['container-file-promotion'] })
      const rule = { EventBusName: 'files', Rule: 'all' }
      await events.putRule({ EventBusName: 'files', Name: 'all', EventPattern })
      const Arn = `arn:aws:sqs:eu-west-1:${MOCK_ACCOUNT}:target`
      await events.putTargets({ ...rule, Targets: [{ Id: 'target', Arn }] })
      bus.url = QueueUrl
    },
    url: '',
    async messagesIn(QueueUrl: string): Promise<string[]> {
      const sqs = new SQS({ useQueueUrlAsEndpoint: false })
      const asked = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }
      const { Messages = [] } = await sqs.receiveMessage(asked)
      for (const { ReceiptHandle } of Messages) await sqs.deleteMessage({ QueueUrl, ReceiptHandle })
      const texts = Messages.map(({ Body = '' }) => Body)
      return texts.length === 0 ? [] : [...texts, ...(await bus.messagesIn(QueueUrl))]
    },
    /** What has arrived since the last time. */
    take: async () => (await bus.messagesIn(bus.url)).map((text) => JSON.parse(text)),
  }

  async function expectNoEvents() {
    const { mappings, table, role } = await stage.events()
    const StreamViewType = 'NEW_AND_OLD_IMAGES'
    expect([mappings, table.StreamSpecification, role]).toEqual([[], { StreamEnabled: true, StreamViewType }, ''])
  }

  it('refuses an account without a role for gateway logs, before anything is there', async () => {
    await stage.settings({ createGatewayLogRole: 'false' })
    await expectRefused('add --param createGatewayLogRole=true, once for all stages')
    await expect(stage.stack()).rejects.toThrow(/does not exist/)
  })

  it('leaves no table behind when the first deployment fails, and succeeds the second time', async () => {
    await stage.settings()
    await stage.failOn('Dashboard')
    await expectRefused()
    expect(await stage.tables()).toEqual([])
    await stage.failOn()
    await expectDeployed()
  })

  it('protects the stack and its tables, which have the key that the settings name', async () => {
    expect((await stage.stack())?.EnableTerminationProtection).toBe(true)
    const names = await stage.tables()
    expect(names).toContain(`${STACK}-keys`)
    for (const TableName of names) {
      const { Table } = await new DynamoDB({}).describeTable({ TableName })
      expect(Table?.DeletionProtectionEnabled, TableName).toBe(true)
    }
    expect(await stage.keysOfTables(...names)).toEqual([TABLES_KEY])
  })

  it('changes nothing by a deployment without a change', async () => {
    expect(await stage.deploy()).toEqual(outcome(true, 'No changes to deploy'))
  })

  it('is administered', async () => {
    expect((await stage.admin('workspaces', 'create', 'ws_kept', '--quota', '5MiB')).code).toBe(0)
  })

  it('is seen to be complete, protected, and private, by doctor', async () => {
    const doctor = await stage.admin('doctor', '--json')
    const checks = jsonLines(doctor)
    expect([doctor.code, checks.filter(({ verdict }) => verdict === 'problem')]).toEqual([0, []])
    const ok = checks.filter(({ verdict }) => verdict === 'ok').map(({ check }) => `${check}`)
    for (const [name, times] of Object.entries({ stack: 1, 'deletion protection of': 3, 'TLS only to': 2 })) {
      expect([name, ok.filter((check) => check.startsWith(`${name} `)).length]).toEqual([name, times])
    }
  })

  it('is rolled back when an upgrade fails, and takes the same upgrade afterwards, without a second role', async () => {
    await stage.settings({ createGatewayLogRole: 'false' })
    const before = await stage.liveVersion()
    const targets = `--param eventBus=files --param links=true`
    const upgrade = `--param rateLimitPerMinute=900 ${targets} --param webAclArn=${WEB_ACL}`.split(' ')
    await expectNoEvents()
    await bus.make()
    await stage.failOn('WebAclAssociation')
    await expectRefused(undefined, ...upgrade)
    const { StackStatus } = (await stage.stack()) ?? {}
    expect([StackStatus, await stage.liveVersion()]).toEqual(['UPDATE_ROLLBACK_COMPLETE', before])
    await expectNoEvents()
    await stage.failOn()
    await expectDeployed(...upgrade)
    expect((await stage.environmentOfFunction()).RATE_LIMIT_PER_MINUTE).toBe('900')
    expect((await resourcesOf(STACK)).map(({ logicalId }) => logicalId)).not.toContain('GatewayLogRole')
    expect(Number(await stage.liveVersion())).toBeGreaterThan(Number(before))
  })

  // moto runs no mapping: stage.ts plays it.
  it('serves by the zips that were uploaded, puts an event for each document, keeps a record that makes none, and puts that later as the runbook says', async () => {
    const { SANDBOX_BUCKET: Bucket } = await stage.environmentOfFunction()
    const VersioningConfiguration = { Status: 'Enabled' } as const
    await new S3({ forcePathStyle: true }).putBucketVersioning({ Bucket, VersioningConfiguration })
    expect(await stage.smoke()).toEqual({ code: 0, problems: [] })
    const document_id = await stage.promoteInto('ws_kept')
    expect(await stage.publishEvents()).toEqual([])
    const told = await bus.take()
    const event = { source: 'container-file-promotion', 'detail-type': 'document.promoted' }
    const detail = { workspace_id: 'ws_kept', document_id, filename: 'report.csv', size_bytes: 4, expires_at: null }
    expect(told).toContainEqual(expect.objectContaining({ ...event, detail: expect.objectContaining(detail) }))
    const types = ['document.deleted', 'document.expired', 'document.promoted']
    expect([...new Set(told.map((each) => each['detail-type']))].toSorted()).toEqual(types)
    const eventsCheck = async () =>
      jsonLines(await stage.admin('doctor', '--json')).find(({ check }) => check === 'events')
    expect(await eventsCheck()).toMatchObject({ verdict: 'ok', detail: 'go to the bus files' })

    const client = new DynamoDB({})
    const TableName = `${STACK}-documents`
    const Key = marshall({ workspace_id: 'ws_kept', document_id })
    const { Item = {} } = await client.getItem({ TableName, Key })
    const { filename = { S: '' }, ...poisoned } = Item
    const poison = { ...poisoned, document_id: { S: 'file_poison' } }
    for (const item of [{ ...poison, item_state: { S: 'pending' } }, poison])
      await client.putItem({ TableName, Item: item })
    await client.deleteItem({ TableName, Key: { ...Key, document_id: { S: 'file_poison' } } })
    expect(await stage.publishEvents()).toEqual([])
    expect(await bus.take()).toEqual([])
    expect(await eventsCheck()).toMatchObject({
      verdict: 'problem',
      detail: expect.stringContaining('1 records made no event'),
    })

    const [message = ''] = await bus.messagesIn(await stage.eventsQueue())
    const { reason, Records } = JSON.parse(message)
    expect(reason).toContain('filename is not a string')
    Records[0].dynamodb.NewImage.filename = filename
    expect(await stage.publish({ reason, Records })).toEqual({ batchItemFailures: [] })
    expect(await bus.take()).toMatchObject([{ ...event, detail: { ...detail, document_id: 'file_poison' } }])
  })

  it('goes back to a former deployment', async () => {
    const { Tags } = (await stage.stack()) ?? {}
    expect((await stage.rollBack()).hasSucceeded).toBe(true)
    await expectNoEvents()
    expect((await stage.stack())?.Tags).toEqual(Tags)
    expect(Tags).toContainEqual({ Key: 'service', Value: 'container-file-promotion' })
    expect((await stage.environmentOfFunction()).RATE_LIMIT_PER_MINUTE).toBe('600')
  })

  it('whose new version is no good comes back by the commands of the page, while an alarm keeps a rollback off', async () => {
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: stage.project })
    const commit = async (tag: string) => {
      await git('add', '--all')
      await git('commit', '--quiet', '--no-verify', '--message', tag)
      await git('tag', tag)
    }
    const live = { FunctionName: `${STACK}-promote-container-file`, Qualifier: 'live' }
    const liveCode = async () => (await new Lambda({}).getFunctionConfiguration(live)).CodeSha256
    await writeFile(join(stage.project, '.gitignore'), 'node_modules\nsettings\n.serverless\n')
    await git('init', '--quiet')
    await commit('good')
    const good = await liveCode()
    await appendFile(join(stage.project, 'dist/promote-container-file.mjs'), '\n// A bug.\n')
    await commit('bad')
    await expectDeployed()
    const bad = await liveCode()
    expect(bad).not.toBe(good)
    const alarm = { AlarmName: `${STACK}-server-error-rate`, StateReason: 'a test' }
    await new CloudWatch({}).setAlarmState({ ...alarm, StateValue: 'ALARM' })
    expect(await stage.rollBack()).toEqual(outcome(false, 'alarms are on'))
    expect(await liveCode()).toBe(bad)

    const { Tags } = (await stage.stack()) ?? {}
    const before = [await stage.tables(), await stage.keptBuckets()]
    const [, section = ''] = (await readFile(join(ROOT, 'docs/deploy.md'), 'utf8')).split('\n## Roll back\n')
    const script = `${fencedBlocks(section)[0]?.text}`.replace('COMMIT', 'good')
    const asked = join(stage.project, '../asked')
    const found = await standIn(join(stage.project, '../bin'), {
      npm: `echo "$*" >> '${asked}'`,
      npx: `shift; exec '${process.execPath}' '${SERVERLESS_CLI}' "$@"`,
    })
    const env = { ...found, ...stage.as('deployer'), AWS_REGION: '', PROMOTION_BUILD: 'skip' }
    await run('bash', ['-eu', '-c', script], { cwd: stage.project, env })
    expect(await readFile(asked, 'utf8')).toBe('ci\nrun admin -- --stage prod smoke\n')
    expect([await liveCode(), (await stage.stack())?.Tags]).toEqual([good, Tags])
    expect([await stage.tables(), await stage.keptBuckets()]).toEqual(before)
    await new CloudWatch({}).setAlarmState({ ...alarm, StateValue: 'OK' })
  })

  it('stops, and is resumed as it was deployed', async () => {
    const deployed = await stage.state()
    expect(deployed).toEqual({ reserved: undefined, schedules: ['ENABLED'] })
    expect((await stage.admin('stop')).stderr).toContain('--yes')
    expect((await stage.admin('stop', '--yes')).code).toBe(0)
    expect(await stage.state()).toEqual({ reserved: 0, schedules: ['DISABLED'] })
    expect((await stage.admin('resume')).code).toBe(0)
    expect(await stage.state()).toEqual(deployed)
  })

  it('keeps tables and buckets when it is removed, and the buckets their policies', async () => {
    await expectDeployed('--param', 'deletionProtection=false')
    expect((await stage.framework('remove')).hasSucceeded).toBe(true)
    expect(await stage.tables()).toContain(`${STACK}-documents`)
    expect(await stage.keptBuckets()).toHaveLength(2)
    for (const Bucket of await stage.keptBuckets()) {
      const { Policy = '' } = await new S3({ forcePathStyle: true }).getBucketPolicy({ Bucket })
      expect(Policy).toContain('aws:SecureTransport')
    }
  })

  it('returns to what was kept', async () => {
    const existing = Object.fromEntries(
      (await stage.tables()).map((name) => [`${keyOf(name.slice(STACK.length + 1))}Table`, name]),
    )
    const [sandboxBucket = '', documentsBucket = ''] = (await stage.keptBuckets()).toSorted().toReversed()
    await stage.settings({ createGatewayLogRole: 'false', ...existing, sandboxBucket, documentsBucket })
    await expectDeployed()
    expect((await stage.admin('workspaces', 'show', 'ws_kept')).stdout).toContain('5 MiB')
    await stage.serve()
  })

  it('erases a workspace: all versions, also of its container files, and nothing of another', async () => {
    const { SANDBOX_BUCKET = '', DOCUMENTS_BUCKET = '' } = await stage.environmentOfFunction()
    const s3 = new S3({ forcePathStyle: true })
    const areas = [`${DOCUMENTS_BUCKET}/documents`, `${SANDBOX_BUCKET}/sandboxes`].map((place) => place.split('/'))
    for (const workspace of ['ws_gone', 'ws_gone2']) {
      await stage.admin('workspaces', 'create', workspace)
      await stage.promoteInto(workspace)
      for (const [Bucket, folder] of areas) {
        const object = { Bucket, Key: `${folder}/${workspace}/sess_a/ü +&.txt` }
        for (const Body of ['before', 'after']) await s3.putObject({ ...object, Body })
        await s3.deleteObject(object)
        await s3.createMultipartUpload(object)
      }
    }
    const stored = async (workspace: string) => {
      const all = areas.map(async ([Bucket, folder]) => {
        const query = { Bucket, Prefix: `${folder}/${workspace}/` }
        const { Versions = [], DeleteMarkers = [] } = await s3.listObjectVersions(query)
        const { Uploads = [] } = await s3.listMultipartUploads(query)
        return [Versions.length, DeleteMarkers.length, Uploads.length]
      })
      return Promise.all(all)
    }
    type Shown = { erasure: string }
    const other = await stored('ws_gone2')
    expect(other).toEqual([
      [3, 1, 1],
      [3, 1, 1],
    ])
    const erase = async (workspace: string) => {
      const asked = await stage.admin(...`workspaces delete ${workspace} --erase --after 0s --yes --json`.split(' '))
      expect([asked.code, asked.stderr, jsonLines(asked).at(-1)]).toMatchObject([0, '', { state: 'scheduled' }])
      expect(await stage.erase(workspace)).toEqual({ advanced: 1, failed: 0 })
      expect((await stored(workspace)).flat().filter((count) => count > 0)).toEqual([])
      const [{ erasure }] = jsonLines(await stage.admin('workspaces', 'show', workspace, '--json')) as [Shown]
      expect(erasure).toBe('verifying')
    }
    await erase('ws_gone')
    const checks = jsonLines(await stage.admin('doctor', '--json'))
    expect(checks.find(({ check }) => check === 'erasures')).toMatchObject({ verdict: 'ok', detail: '1 go on' })
    expect(await stage.erase('ws_gone')).toEqual({ advanced: 1, failed: 0 })
    const [shown] = jsonLines(await stage.admin('workspaces', 'show', 'ws_gone', '--json')) as [Shown]
    expect(shown.erasure).toBe('erased')
    expect(await stored('ws_gone2')).toEqual(other)
    await erase('ws_gone2')
    expect((await stage.admin('audit')).stdout).toContain('nothing is wrong')
  })

  it('comes back from a damaged table by tables that were restored', async () => {
    const documentId = await stage.promoteInto('ws_kept')
    const protect = { TableName: `${STACK}-documents`, DeletionProtectionEnabled: true }
    await new DynamoDB({}).updateTable(protect)
    const result = await stage.admin('restore', 'tables', '--at', new Date().toISOString(), '--json')
    expect([result.code, result.stderr]).toEqual([0, ''])
    const lines = jsonLines(result)
    const names = Object.fromEntries(lines.map(({ parameter, target }) => [`${parameter}`, `${target}`]))
    expect(Object.keys(names).toSorted()).toEqual(['documentsTable', 'workspacesTable'])
    expect(await stage.keysOfTables(...Object.values(names))).toEqual([TABLES_KEY])
    names.documentsStreamArn = `${lines.find(({ parameter }) => parameter === 'documentsTable')?.stream_arn}`
    expect(names.documentsStreamArn).toContain(`:table/${names.documentsTable}/stream/`)
    await expectBackedUp(names.documentsTable ?? '')

    const Key = marshall({ workspace_id: 'ws_kept', document_id: documentId })
    await new DynamoDB({}).deleteItem({ TableName: `${STACK}-documents`, Key })
    expect((await stage.admin('audit', '--workspace', 'ws_kept')).code).toBe(1)

    expect((await stage.admin('stop', '--yes')).code).toBe(0)
    await stage.settings({ ...stage.ownSettings(), ...names, eventBus: 'files' })
    await expectDeployed()
    expect((await stage.events()).mappings).toMatchObject([{ EventSourceArn: names.documentsStreamArn }])
    expect((await stage.admin('audit')).stdout).toContain('nothing is wrong')
    expect((await stage.admin('documents', 'list', 'ws_kept')).stdout).toContain(documentId)
    expect((await stage.admin('resume')).code).toBe(0)

    await stage.serve()
    const document_id = await stage.promoteInto('ws_kept')
    expect(await stage.publishEvents()).toEqual([])
    expect(await bus.take()).toContainEqual(
      expect.objectContaining({ detail: expect.objectContaining({ document_id }) }),
    )
  })

  /**
   * Rights that this story does not need: for other settings, other ways of a command, features only AWS has, and keys
   * (test/template/policy-files.test.ts).
   */
  const UNSEEN: Record<Exclude<Identity, 'workflow'>, RegExp> = {
    deployer:
      /^OnlyWith(Domain|HostedZone|OwnTopics)|(CancelUpdateStack|ContinueUpdateRollback|GetFunctionConcurrency|GetTemplate)$/,
    smoke: /^(Address|Log|Metrics): |AbortMultipartUpload$| kms:/,
    doctor: / kms:/,
    restore: / kms:/,
  }

  /** Without it the framework takes it that there are no images to remove. */
  const REFUSED = 'ecr:DescribeRepositories'

  it.each(Object.keys(UNSEEN) as (keyof typeof UNSEEN)[])(
    'needed every right of docs/policies for the %s, and no other',
    (identity) => {
      const [rights, asked] = [rightsOf(identity), stage.asked.get(identity) ?? []]
      const refused = asked.filter((access) => !isAllowed(rights, access))
      expect(refused.filter(({ action }) => action !== REFUSED)).toEqual([])
      expect(unusedRights(rights, asked).filter((right) => !UNSEEN[identity].test(right))).toEqual([])
    },
  )
})
