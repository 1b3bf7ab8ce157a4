import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Deployment, problemsInDeployment } from '../../infra/deploy/problems-in-deployment.ts'
import { defaultParameters } from '../../infra/deploy/variables.ts'
import { read } from '../pages/pages.ts'
import {
  asParams,
  CREATED_SANDBOXES,
  copyProject,
  EXISTING,
  serverless,
  THRESHOLDS,
  WRITERS,
} from '../support/template/packages.ts'
import { useDirectory } from '../support/use-directory.ts'

const { provider, ...rest } = parse(read('serverless.yml'))
const { default: defaults = {}, prod = {} } = defaultParameters()

const WITHOUT_WORKSPACE = 'boxes/{container_id}/{path}'
const WITHOUT_FOLDER = 'of-{workspace_id}/{document_id}/{attempt_id}'
const SANDBOXES_AS_DOCUMENTS = 'documents/{workspace_id}/{container_id}/{path}'
const IN_ONE_BUCKET = { sandboxBucket: 'one', documentsBucket: 'one', sandboxKeyTemplate: SANDBOXES_AS_DOCUMENTS }
const PAGED = { alarmTopicArn: EXISTING.alarmTopicArn }
const OWN_BUCKET = { sandboxBucket: 'boxes' }
const WITH_WILDCARD = 'box*/{workspace_id}/{container_id}/{path}'
const NO_WRITERS = [
  'runner',
  'arn:aws:iam::111122223333:root',
  'arn:aws:iam::111122223333:user/runner',
  'arn:aws:iam::111122223333:role/*',
  'arn:aws:iam::*:role/runner',
  'arn:aws:sts::111122223333:assumed-role/runner/task',
  `${WRITERS},`,
  `${WRITERS}, ${WRITERS}`,
  Array(30).fill(WRITERS).join(),
]
const STREAM = 'arn:aws:dynamodb:us-east-1:111122223333:table/platform-docs/stream/2026-11-21T09:00:00.000'
const STREAM_OF_ANOTHER = `documentsStreamArn is "${STREAM}": allowed is the stream of documentsTable`
const GLOBAL_ACL = 'arn:aws:wafv2:us-east-1:111122223333:global/webacl/x/0'

/** A deployment with these parameters, as the framework hands them to the plugin. */
const deployment = (changes: Deployment['settings'], options: Partial<Deployment> = {}): Deployment => ({
  ...{ stage: 'prod', region: 'us-east-1', given: [] },
  ...options,
  settings: { ...defaults, ...changes },
})

it('serverless.yml uses only keys that osls v4 and the Serverless Framework v4 both know', () => {
  const topLevel = ['service', 'frameworkVersion', 'plugins', 'params', 'custom', 'package', 'resources', 'functions']
  expect(Object.keys(rest).toSorted()).toEqual(topLevel.toSorted())
  const onlyOne =
    'build capacityProviders domain domains enableLegacyDeploymentBucket eventBridge lambdaHashingVersion resolver ' +
    'deletionProtection pruneFunctionVersions'
  for (const key of onlyOne.split(' ')) expect(provider).not.toHaveProperty(key)
})

describe('the parameters', () => {
  it.each([
    ['of production', { ...prod, alarmEmail: 'ops@example.com' }],
    ['of existing resources', { ...prod, ...EXISTING }],
    ['of a restored table', { ...prod, ...EXISTING, documentsTable: 'platform-docs', documentsStreamArn: STREAM }],
    ['of alarms', { ...prod, ...THRESHOLDS }],
    ['of sandboxes', { ...CREATED_SANDBOXES, sandboxWriters: WRITERS }],
    ['as booleans and numbers', { alarmEmail: 'ops@example.com', deletionProtection: true, throttleRatePerSecond: 5 }],
  ])('%s can be deployed', (_, changes) => {
    expect(problemsInDeployment(deployment(changes))).toEqual([])
  })

  const EXISTING_DOMAIN = { customDomainName: EXISTING.customDomainName, certificateArn: EXISTING.certificateArn }
  it.each<[fault: string, changes: Record<string, string>, options?: object]>([
    ['tag: there is no such parameter (--param, settings/prod.yml), only', {}, { given: ['tags', 'tag'] }],
    ['colour: there is no such parameter (--param, settings/prod.yml), only', {}, { given: ['colour'] }],
    ['--stage is local, which is what npm start serves', {}, { stage: 'local' }],
    ['sandboxBucket is "My_Bucket", allowed: bucket name', { sandboxBucket: 'My_Bucket' }],
    ['documentsBucket is "192.168.5.4", allowed: bucket name', { documentsBucket: '192.168.5.4' }],
    [`sandboxKeyTemplate "${WITHOUT_WORKSPACE}", documentKeyTemplate`, { sandboxKeyTemplate: WITHOUT_WORKSPACE }],
    ['in one bucket, the sandbox and the document template must differ', IN_ONE_BUCKET],
    ['what comes before the first placeholder must end in "/"', { documentKeyTemplate: WITHOUT_FOLDER }],
    ['sandboxKmsKeyArn is "alias/mine", allowed: KMS key ARN', { sandboxKmsKeyArn: 'alias/mine' }],
    ['formerKmsKeyArns is "arn:', { formerKmsKeyArns: `${EXISTING.sandboxKmsKeyArn},` }],
    ['rateLimitPerMinute must be an integer from 1 to 30000, not "0"', { rateLimitPerMinute: '0' }],
    ['deletedDocumentDays is "0", allowed: 1 to 3650', { deletedDocumentDays: '0' }],
    ['throttleRatePerSecond is "", allowed: 1 to', { throttleRatePerSecond: '' }],
    [
      'customDomainName is "https://x.org", allowed: lower-case host name',
      { ...EXISTING_DOMAIN, customDomainName: 'https://x.org' },
    ],
    ['certificateArn is missing: customDomainName needs', { customDomainName: 'files.example.com' }],
    ['customDomainName is missing: certificateArn is for', { certificateArn: EXISTING.certificateArn }],
    ['customDomainName is missing: hostedZoneId is for', { hostedZoneId: 'Z1' }],
    ['customDomainName is missing: with disableExecuteApiEndpoint=true', { disableExecuteApiEndpoint: 'true' }],
    ['sandboxAccountId is "12", allowed: 12 digits', { sandboxBucket: 'boxes', sandboxAccountId: '12' }],
    ['documentsStreamArn is missing: eventBus reads', { eventBus: 'files', documentsTable: 'docs' }],
    [STREAM_OF_ANOTHER, { documentsTable: 'docs', documentsStreamArn: STREAM }],
    [STREAM_OF_ANOTHER, { documentsStreamArn: STREAM }],
    ['documentsStreamArn is "x", allowed: ARN of', { documentsTable: 'docs', documentsStreamArn: 'x' }],
    ['sandboxBucket is missing: sandboxAccountId is', { sandboxAccountId: '444455556666' }],
    ['sandboxVersions is "on", allowed: true, false', { sandboxVersions: 'on' }],
    ['sandboxDays is for a bucket that the stack creates: leave', OWN_BUCKET, { given: ['sandboxDays'] }],
    ['leave it out, and set up boxes', OWN_BUCKET, { given: ['sandboxVersions'] }],
    ...NO_WRITERS.map((sandboxWriters): [string, Record<string, string>] => [
      `sandboxWriters is "${sandboxWriters}", allowed: ARNs of existing IAM roles`,
      { sandboxWriters },
    ]),
    ['with sandboxWriters it may have no "*"', { sandboxWriters: WRITERS, sandboxKeyTemplate: WITH_WILDCARD }],
    ['hostedZoneId is "example.com", allowed: Route 53 zone id', { ...EXISTING_DOMAIN, hostedZoneId: 'example.com' }],
    ['allowed is one in eu-west-1, where the stack is', EXISTING_DOMAIN, { region: 'eu-west-1' }],
    [`webAclArn is "${GLOBAL_ACL}", allowed: regional web ACL ARN`, { webAclArn: GLOBAL_ACL }],
    ['nobody gets the alarms: give alarmEmail or alarmTopicArn', prod],
    ['nobody gets the alarms that wait for the morning: give ticketEmail or ticketTopicArn', { ...prod, ...PAGED }],
    ['ticketTopicArn is "ops", allowed: standard SNS topic ARN', { ticketTopicArn: 'ops' }],
    ['keysTable is "arn:aws:dynamodb:…", allowed: table name', { keysTable: 'arn:aws:dynamodb:…' }],
    [
      'deploymentPreference is "Canary", allowed: AllAtOnce, Canary10Percent5Minutes',
      { deploymentPreference: 'Canary' },
    ],
    ['logRetentionDays is "31", allowed: 1, 3, 5', { logRetentionDays: '31' }],
    ['alarmServerErrorPercent is "101", allowed: 1 to 100', { alarmServerErrorPercent: '101' }],
  ])('are refused: %s', (fault, changes, options) => {
    expect(problemsInDeployment(deployment(changes, options)).join('\n')).toContain(fault)
  })

  it('name one that is wrong in two ways once', () => {
    expect(problemsInDeployment(deployment({ webAclArn: GLOBAL_ACL }, { region: 'eu-west-1' }))).toHaveLength(1)
  })
})

const project = useDirectory('project')

it('serverless package names all problems together, and packages nothing', async () => {
  await copyProject(project(), ['infra', 'lib'])
  const faulty = asParams({ throttleRatePerSecond: '0', alarmEmail: 'ops', tag: '1' })
  const { code, stderr, stdout } = await serverless(['package', ...faulty], project()).catch((error) => error)
  expect(code).toBe(1)
  const text = `${stdout}${stderr}`
  for (const name of ['throttleRatePerSecond', 'alarmEmail', 'tag']) expect(text).toContain(`- ${name}`)
  expect(text).not.toContain('Service packaged')
})
