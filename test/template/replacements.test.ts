import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SETTINGS } from '../../infra/deploy/settings.ts'
import { ROOT, read } from '../pages/pages.ts'
import { run } from '../support/machine/program.ts'
import * as packages from '../support/template/packages.ts'
import { useDirectory } from '../support/use-directory.ts'

/**
 * The types in use, and the properties with which CloudFormation replaces a resource: createOnlyProperties and
 * conditionalCreateOnlyProperties of AWS's resource provider schemas, as cfn-lint 1.51.0 has them.
 */
const CREATE_ONLY = `
ApiGateway::Account; ApiGateway::BasePathMapping DomainName BasePath; ApiGateway::DomainName DomainName
ApiGateway::Deployment DeploymentCanarySettings RestApiId; ApiGateway::GatewayResponse ResponseType RestApiId
ApiGateway::Method RestApiId ResourceId HttpMethod; ApiGateway::Resource PathPart ParentId RestApiId
ApiGateway::RestApi; ApiGateway::Stage RestApiId StageName; CloudWatch::Alarm AlarmName
CloudWatch::Dashboard DashboardName; CodeDeploy::Application ApplicationName ComputePlatform
CodeDeploy::DeploymentGroup DeploymentGroupName ApplicationName; Events::Rule Name EventBusName
DynamoDB::Table TableName ImportSourceSpecification KeySchema; IAM::Role Path RoleName
IAM::RolePolicy PolicyName RoleName; Lambda::Alias Name FunctionName; Lambda::EventInvokeConfig FunctionName Qualifier
Lambda::EventSourceMapping EventSourceArn StartingPosition; SQS::Queue QueueName FifoQueue; SQS::QueuePolicy
Lambda::Function FunctionName PackageType TenancyConfig DurableConfig; Logs::LogGroup LogGroupName
Lambda::Permission FunctionName FunctionUrlAuthType InvokedViaFunctionUrl SourceAccount SourceArn Principal PrincipalOrgID Action EventSourceToken
Lambda::Version FunctionName Description CodeSha256 ProvisionedConcurrencyConfig RuntimePolicy
Logs::QueryDefinition; Route53::RecordSet HostedZoneName Name HostedZoneId; S3::BucketPolicy Bucket
S3::Bucket BucketName BucketNamePrefix BucketNamespace; SNS::Subscription Endpoint Protocol TopicArn Region
SNS::Topic TopicName FifoTopic; SNS::TopicPolicy; StepFunctions::StateMachine StateMachineName StateMachineType
WAFv2::WebACLAssociation ResourceArn WebACLArn; XRay::SamplingRule`
const createOnly = new Map(CREATE_ONLY.split(/[;\n] ?/).map((entry) => [entry.split(' ')[0], entry.split(' ')]))

/**
 * Each line: a change of a stage; what CloudFormation then replaces, makes or takes away; why it may. A `bare` stage has
 * only what it must have, a `full` one all that may be given; REST are the settings that no other line changes in it.
 */
const CHANGES = `
bare rolePath | IAM::Role IAM::RolePolicy Lambda::Version | docs/settings.md
full rolePath | IAM::Role IAM::RolePolicy Lambda::Version | docs/settings.md
bare keysTable workspacesTable documentsTable | DynamoDB::Table Lambda::Version | docs/settings.md
bare sandboxBucket documentsBucket | Lambda::Version S3::Bucket S3::BucketPolicy | docs/settings.md
bare sandboxDays sandboxVersions |  | the bucket is changed where it is
bare sandboxWriters | IAM::Role | one comes
bare eventBus | CloudWatch::Alarm IAM::Role Lambda::EventSourceMapping Lambda::Function Logs::LogGroup SQS::Queue SQS::QueuePolicy | they come
full eventBus |  | the function gets another bus
bare links | ApiGateway::Deployment ApiGateway::Method ApiGateway::Resource CodeDeploy::DeploymentGroup IAM::Role IAM::RolePolicy Lambda::Alias Lambda::Function Lambda::Permission Lambda::Version Logs::LogGroup XRay::SamplingRule | they come
full links | ApiGateway::Deployment ApiGateway::Method ApiGateway::Resource CodeDeploy::DeploymentGroup IAM::Role IAM::RolePolicy Lambda::Alias Lambda::Function Lambda::Permission Lambda::Version Logs::LogGroup XRay::SamplingRule | they go
full documentsTable documentsStreamArn | Lambda::EventSourceMapping Lambda::Version | as after a restore: another stream
full customDomainName | ApiGateway::BasePathMapping ApiGateway::DomainName Lambda::Version Route53::RecordSet | docs/settings.md
full hostedZoneId | Route53::RecordSet | the new ones come before the others go
full webAclArn | WAFv2::WebACLAssociation | docs/settings.md
full disableExecuteApiEndpoint | ApiGateway::Deployment | the stage moves to it
full corsAllowedOrigins | ApiGateway::Deployment Lambda::Version | stage and aliases move to them
full createGatewayLogRole | ApiGateway::Account IAM::Role | they stay when they leave the stack; preflight.ts refuses a second role
bare alarmTopicArn ticketTopicArn | SNS::Topic SNS::TopicPolicy | docs/settings.md
full alarmTopicArn ticketTopicArn alarmEmail ticketEmail | SNS::Subscription | docs/settings.md
full REST | Lambda::Version | the aliases move to them`
  .trim()
  .split('\n')
  .map((line) => line.split(' | '))
  .map(([what = '', replaced, why]) => ({ stage: what.slice(0, 4), names: what.split(' ').slice(1), replaced, why }))

type Settings = Record<string, string>
const streamOf = (table: string) => `arn:aws:dynamodb:us-east-1:111122223333:table/${table}/stream/2026-11-21T09:00`
const FULL: Settings = {
  ...{ ...packages.EXISTING, ...packages.THRESHOLDS, createGatewayLogRole: 'true', rolePath: '/team/' },
  operationsKmsKeyArn: packages.KEYS.sandboxKmsKeyArn,
  documentsTable: 'platform-docs',
  documentsStreamArn: streamOf('platform-docs'),
}
/** Those of a created bucket cannot be given in a stage that has all that may exist. */
const named = CHANGES.flatMap(({ stage, names }) =>
  stage === 'full' ? names : Object.keys(packages.CREATED_SANDBOXES),
)
const rest = Object.keys(SETTINGS).filter((name) => !named.includes(name))
const STAGES: Record<string, Settings> = { bare: { deletionProtection: 'false' }, full: FULL }
/** By their names, or their kinds. */
const OTHERS: Settings = {
  ...{ bucket: 'b-bucket', table: 'b-table', account: '999999999999', tags: 'team=b', email: 'b@example.com' },
  ...{ topic: 'arn:aws:sns:us-east-1:111122223333:b', policy: 'arn:aws:iam::111122223333:policy/b', rolePath: '/b/' },
  roles: 'arn:aws:iam::111122223333:role/b',
  ...{ hostName: 'b.example.com', hostedZone: 'ZB', retentionDays: '7', deploymentPreference: 'AllAtOnce' },
  sandboxKeyTemplate: 'b/{workspace_id}/{container_id}/{path}',
  documentKeyTemplate: 'c/{workspace_id}/{document_id}/{attempt_id}',
  corsAllowedOrigins: 'https://b.example.com',
  eventBus: 'b-bus',
  documentsStreamArn: streamOf('b-table'),
}
const otherOf = (name: string) => {
  const { kind = '', min, prod, default: byDefault } = SETTINGS[name] ?? {}
  const is = FULL[name] ?? prod ?? String(byDefault)
  return OTHERS[name] ?? OTHERS[kind] ?? String(min ?? (/^\w+$/.test(is) ? is !== 'true' : is.replace(/0a+/, '0b')))
}
const changesOf = ({ stage, names }: (typeof CHANGES)[number]) =>
  Object.fromEntries(
    (names[0] === 'REST' ? rest : names).map((name) => [
      name,
      stage === 'full' ? otherOf(name) : (FULL[name] ?? otherOf(name)),
    ]),
  )

type Resources = Record<string, packages.Resource>
const directory = useDirectory('replacements')
/** With the settings of STAGES, and after each of CHANGES. */
let bare: Resources
let full: Resources
let changed: Resources[]

beforeAll(async () => {
  await packages.copyProject(directory(), ['infra', 'lib'])
  const { templateFile } = await packages.packagedService('prod')
  const settings = CHANGES.map((change) => ({ ...STAGES[change.stage], ...changesOf(change) }))
  const sets = [...Object.values(STAGES), ...settings].map(packages.asParams)
  const [script, file] = [join(ROOT, 'test/support/template/package-settings.ts'), join(directory(), 'templates.json')]
  // Otherwise, V8 spends half of the time optimizing the framework's huge check of serverless.yml.
  const args = ['--no-maglev', script, dirname(templateFile), file, JSON.stringify(sets)]
  const env = { ...process.env, PROMOTION_BUILD: 'skip' }
  await run(process.execPath, args, { cwd: directory(), env })
  ;[bare, full, ...changed] = JSON.parse(await readFile(file, 'utf8'))
}, packages.PACKAGING_TIMEOUT_MS)

const mentions = (value: unknown, ids: ReadonlySet<string>) =>
  JSON.stringify(value ?? '')
    .match(/\w+/g)
    ?.some((word) => ids.has(word)) ?? false

/** The ids that come or go, and those of resources that differ in what only their creation sets. */
function replacedBetween(before: Resources, after: Resources): Set<string> {
  const kept = Object.keys(before).filter((id) => id in after)
  const replaced = new Set(Object.keys({ ...before, ...after }).filter((id) => !kept.includes(id)))
  const isReplaced = (id: string) => {
    const properties = createOnly.get(after[id]?.Type.replace('AWS::', ''))
    if (properties === undefined) throw new Error(`${after[id]?.Type} is new: what of it is create-only?`)
    return properties.some((name) => {
      const [was, is] = [before[id]?.Properties[name], after[id]?.Properties[name]]
      return JSON.stringify(was) !== JSON.stringify(is) || mentions(is, replaced)
    })
  }
  for (let found = -1; found < replaced.size; ) {
    // Again, until none follows from another.
    found = replaced.size
    for (const id of kept) if (!replaced.has(id) && isReplaced(id)) replaced.add(id)
  }
  return replaced
}

const templateWith = (name: string) => changed[CHANGES.findIndex(({ names }) => names.includes(name))] ?? {}

describe('a deployment that changes settings', () => {
  it.each(CHANGES.map((change, index) => ({ ...change, index })))(
    'of a $stage stage, $names, replaces $replaced: $why',
    ({ index, stage, names, replaced: expected, why = '' }) => {
      const [before, after = {}] = [stage === 'full' ? full : bare, changed[index]]
      const replaced = replacedBetween(before, after)
      const types = [...replaced].map((id) => (before[id] ?? after[id])?.Type.replace('AWS::', ''))
      expect([...new Set(types)].toSorted().join(' ')).toBe(expected)
      // With a version that stays, which its alias stays with, stays all that the function had.
      for (const [id, { Type, Properties }] of Object.entries(after)) {
        if (Type === 'AWS::Lambda::Version' && !replaced.has(id))
          expect(mentions(after[Properties.FunctionName.Ref], replaced), id).toBe(false)
      }
      const [, page = ''] = read('docs/settings.md').split('\n## Changes')
      const explained = [...page.matchAll(/`…?(\w+)`/g)].map(([, name = '']) => name)
      const unexplained = names.filter((name) => !explained.some((end) => name.endsWith(end)))
      if (why === 'docs/settings.md') expect(unexplained).toEqual([])
    },
  )

  it.each(['eventBus', 'links'])('that sets %s, takes it away and sets it again, leaves nothing dead', (name) => {
    const set = templateWith(name)
    // A rollback is the way back.
    for (const after of [bare, set]) {
      const before = after === bare ? set : bare
      const replaced = replacedBetween(before, after)
      expect([...replaced].filter((id) => id in before && id in after)).toEqual([])
      const gone = new Set([...replaced].filter((id) => !(id in after)))
      for (const [id, resource] of Object.entries(after)) expect(mentions(resource, gone), id).toBe(false)
    }
    const absent = { eventBus: /StreamArn|GetRecords|PutEvents|event-bus|sqs/, links: /link|XRay::/i }[name]
    expect(JSON.stringify(bare)).not.toMatch(absent ?? '')
    // What has another environment is another version: only that reaches the alias.
    const versionIn = (resources: Resources) =>
      Object.keys(resources).find((id) => id.startsWith('ReadDocumentsLambdaVersion'))
    expect(versionIn(bare) === versionIn(set)).toBe(name !== 'links')
  })

  it('that names an event bus changes nothing else', () => {
    const withBus = templateWith('eventBus')
    const ids = [...replacedBetween(bare, withBus)]
    // Each packaging names the zips by its time; the dashboard lists the alarms, queries the log groups.
    // The function that erases workspaces puts an event itself.
    const isItsOwn = ([id, { Type }]: [string, packages.Resource]) =>
      ids.includes(id) || /Dashboard|QueryDefinition/.test(Type) || /^EraseWorkspaces(Role|LambdaFunction)$/.test(id)
    const written = (resources: Resources) => {
      const others = Object.entries(resources).filter((entry) => !isItsOwn(entry))
      return JSON.parse(JSON.stringify(Object.fromEntries(others)).replace(/\/\d{13}-[^/]+/g, ''))
    }
    expect(written(withBus)).toEqual(written(bare))
    expect(bare.DocumentsTable?.Properties.StreamSpecification).toEqual({ StreamViewType: 'NEW_AND_OLD_IMAGES' })
  })
})
