import { beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../support/package/intrinsics.ts'
import { EXISTING, PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from '../support/package/packages.ts'

interface Statement {
  Sid: string | undefined
  Action: string | string[]
  Resource: unknown
  Condition?: { StringLike?: { 's3:prefix': unknown }; StringEquals?: Record<string, unknown> }
}

let dev: Packaged
let existing: Packaged
beforeAll(async () => {
  ;[dev, existing] = await Promise.all([packagedService('dev'), packagedService('existing')])
}, PACKAGING_TIMEOUT_MS)

/** Of a role's own policies and of those that are attached to it. */
const statementsOf = (service: Packaged, role: string): Statement[] => {
  const attached = service
    .ofType('AWS::IAM::RolePolicy')
    .map(({ Properties }) => Properties)
    .filter(({ RoleName }) => RoleName.Ref === role)
  return [...service.resource(role).Properties.Policies, ...attached].flatMap(
    (policy: { PolicyDocument: { Statement: Statement[] } }) => policy.PolicyDocument.Statement,
  )
}

const LOG_AND_TRACE = 'logs:CreateLogStream logs:PutLogEvents xray:PutTraceSegments xray:PutTelemetryRecords'
/** What Step Functions needs to write to a log group: Step Functions developer guide, "Logging". */
const LOG_DELIVERY =
  'logs:CreateLogDelivery logs:GetLogDelivery logs:UpdateLogDelivery logs:DeleteLogDelivery logs:ListLogDeliveries logs:PutResourcePolicy logs:DescribeResourcePolicies logs:DescribeLogGroups'
const ACTIONS = {
  PromoteContainerFileRole: `${LOG_AND_TRACE} dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem dynamodb:DeleteItem s3:GetObject s3:ListBucket s3:PutObject s3:DeleteObject s3:AbortMultipartUpload s3:ListBucketMultipartUploads`,
  ReadDocumentsRole: `${LOG_AND_TRACE} dynamodb:GetItem dynamodb:UpdateItem dynamodb:BatchGetItem dynamodb:Query s3:GetObject s3:ListBucket`,
  DeleteDocumentRole: `${LOG_AND_TRACE} dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem dynamodb:DeleteItem s3:DeleteObject s3:AbortMultipartUpload s3:ListBucketMultipartUploads`,
  ReadContainerFilesRole: `${LOG_AND_TRACE} dynamodb:GetItem dynamodb:UpdateItem s3:GetObject s3:ListBucket`,
  ResolveReservationsRole: `${LOG_AND_TRACE} dynamodb:Query dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem dynamodb:DeleteItem s3:DeleteObject s3:AbortMultipartUpload s3:ListBucketMultipartUploads`,
  AuditWorkspacesRole: `${LOG_AND_TRACE} dynamodb:Scan dynamodb:Query dynamodb:GetItem dynamodb:DescribeTable s3:ListBucket s3:ListBucketMultipartUploads s3:GetObject`,
  AuditRoundScheduleRole: 'states:StartExecution',
  AuditRoundRole: `lambda:InvokeFunction states:ListExecutions states:StartExecution states:DescribeExecution states:StopExecution xray:PutTraceSegments xray:PutTelemetryRecords xray:GetSamplingRules xray:GetSamplingTargets ${LOG_DELIVERY}`,
  // Those of AWSCodeDeployRoleForLambdaLimited but for its hooks.
  TrafficShiftRole:
    'lambda:GetAlias lambda:UpdateAlias lambda:GetProvisionedConcurrencyConfig cloudwatch:DescribeAlarms s3:GetObject s3:GetObjectVersion',
}
/** What has no resource to name. */
const ANYWHERE = ['Trace', 'AskAlarms', 'DeliverLogs']

describe('roles', () => {
  it("are all in the table of their actions, but for the account's", () => {
    const all = dev.idsOfType('AWS::IAM::Role').filter((id) => id !== 'GatewayLogRole')
    expect(Object.keys(ACTIONS).toSorted(), 'ACTIONS in test/infra/roles.test.ts').toEqual(all.toSorted())
  })

  it.each(Object.entries(ACTIONS))('grants %s no wildcard action and no resource but its own', (role, expected) => {
    const statements = statementsOf(dev, role)
    expect(new Set(statements.flatMap(({ Action }) => Action))).toEqual(new Set(expected.split(' ')))
    for (const { Sid, Resource } of statements) {
      if (!ANYWHERE.includes(Sid ?? '')) expect([Resource].flat(), Sid).not.toContain('*')
    }
  })

  it('gives every function a role of its own, and has no other but those of gateway, traffic shift and rounds', () => {
    const used = dev.ofType('AWS::Lambda::Function').map(({ Properties }) => Properties.Role['Fn::GetAtt'][0])
    const others = ['TrafficShiftRole', 'GatewayLogRole', 'AuditRoundRole', 'AuditRoundScheduleRole']
    expect(new Set([...used, ...others])).toEqual(new Set(dev.idsOfType('AWS::IAM::Role')))
    expect(new Set(used).size).toBe(used.length)
  })

  it.each([
    ['dev', 'PromoteContainerFileRole', 'ReadSandboxes', '<SandboxBucket>/sandboxes/*/*/*'],
    ['dev', 'PromoteContainerFileRole', 'WriteDocuments', '<DocumentsBucket>/documents/*/*/*'],
    ['dev', 'ReadDocumentsRole', 'ReadDocuments', '<DocumentsBucket>/documents/*/*/*'],
    ['dev', 'DeleteDocumentRole', 'DiscardObjects', '<DocumentsBucket>/documents/*/*/*'],
    ['dev', 'ReadContainerFilesRole', 'ReadSandboxes', '<SandboxBucket>/sandboxes/*/*/*'],
    ['existing', 'ReadDocumentsRole', 'ReadDocuments', 'platform-documents/*/files/*/*'],
    ['existing', 'ReadContainerFilesRole', 'ReadSandboxes', 'platform-boxes/tenants/*/boxes/*/fs/*'],
    ['dev', 'ResolveReservationsRole', 'DiscardObjects', '<DocumentsBucket>/documents/*/*/*'],
    ['dev', 'AuditWorkspacesRole', 'LookAtObjects', '<DocumentsBucket>/documents/*'],
    ['existing', 'PromoteContainerFileRole', 'ReadSandboxes', 'platform-boxes/tenants/*/boxes/*/fs/*'],
    ['existing', 'PromoteContainerFileRole', 'WriteDocuments', 'platform-documents/*/files/*/*'],
    ['existing', 'ResolveReservationsRole', 'DiscardObjects', 'platform-documents/*/files/*/*'],
    ['existing', 'AuditWorkspacesRole', 'LookAtObjects', 'platform-documents/*'],
  ])('of %s, lets %s (%s) reach the objects of the key template only', (variant, role, sid, objects) => {
    const service = variant === 'dev' ? dev : existing
    const statement = statementsOf(service, role).find(({ Sid }) => Sid === sid)
    expect(textOf(statement?.Resource)).toBe(`arn:<AWS::Partition>:s3:::${objects}`)
  })

  it('limits every listing to the prefixes of the key templates', () => {
    const prefixes = Object.keys(ACTIONS).flatMap((role) =>
      statementsOf(dev, role)
        .filter(({ Action }) => Action === 's3:ListBucket')
        .map(({ Sid, Condition }) => [Sid, textOf(Condition?.StringLike?.['s3:prefix'])]),
    )
    expect(prefixes).toEqual([
      ['TellMissingSandboxFiles', 'sandboxes/*/*/*'],
      ['TellMissingDocuments', 'documents/*/*/*'],
      ['TellLostDocuments', 'documents/*/*/*'],
      ['ListSandboxes', 'sandboxes/*/*/*'],
      ['ListObjects', 'documents/*'],
    ])
  })

  const OWN_ACCOUNT = { Ref: 'AWS::AccountId' }

  it('reach buckets of the account that they are meant to be in only, whoever takes a name that was given up', () => {
    const accountsOf = (service: Packaged) =>
      Object.keys(ACTIONS).flatMap((role) =>
        statementsOf(service, role)
          // CodeDeploy's revisions may be anywhere.
          .filter(
            ({ Action, Sid }) => [Action].flat().some((each) => each.startsWith('s3:')) && Sid !== 'ReadRevisions',
          )
          .map(({ Resource, Condition }) => [
            /sandbox|boxes/i.test(textOf(Resource)) ? 'sandboxes' : 'documents',
            Condition?.StringEquals?.['aws:ResourceAccount'],
          ]),
      )
    expect(accountsOf(dev).length).toBeGreaterThan(15)
    for (const [, account] of accountsOf(dev)) expect(account).toEqual(OWN_ACCOUNT)
    for (const [which, account] of accountsOf(existing)) {
      expect(account).toEqual(which === 'sandboxes' ? EXISTING.sandboxAccountId : OWN_ACCOUNT)
    }
  })

  it('are assumed for this account only', () => {
    for (const id of dev.idsOfType('AWS::IAM::Role')) {
      const [{ Condition }] = dev.resource(id).Properties.AssumeRolePolicyDocument.Statement
      // API Gateway is not documented to name an account.
      const expected = id === 'GatewayLogRole' ? undefined : { StringEquals: { 'aws:SourceAccount': OWN_ACCOUNT } }
      expect(Condition, id).toEqual(expected)
    }
  })

  it('and the topics, take alarms of this account only', () => {
    const policies = dev.ofType('AWS::SNS::TopicPolicy').map(({ Properties }) => Properties)
    expect(policies.map(({ Topics }) => Topics[0].Ref)).toEqual(dev.idsOfType('AWS::SNS::Topic'))
    for (const { PolicyDocument } of policies) {
      expect(PolicyDocument.Statement).toMatchObject([
        {
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Action: 'sns:Publish',
          Condition: { StringEquals: { 'aws:SourceAccount': OWN_ACCOUNT } },
        },
      ])
    }
  })

  /** The changes that a role allows, except to the caller's rate limit. */
  const changesOf = (role: string) =>
    statementsOf(dev, role)
      .filter(({ Sid }) => Sid !== 'CountRequests')
      .flatMap(({ Action }) => Action)
      .filter((action) => !/^(logs|xray):|:(Get|BatchGet|List|Query|Scan|Describe)/.test(action))

  it.each(['AuditWorkspacesRole', 'ReadDocumentsRole', 'ReadContainerFilesRole'])('lets %s change nothing', (role) => {
    expect(changesOf(role)).toEqual([])
  })

  it('lets the deletion read no content', () => {
    const actions = statementsOf(dev, 'DeleteDocumentRole').flatMap(({ Action }) => Action)
    expect(actions).not.toContain('s3:GetObject')
  })

  it.each([
    ['ReadDocumentsRole', EXISTING.documentsKmsKeyArn],
    ['ReadContainerFilesRole', EXISTING.sandboxKmsKeyArn],
  ])('lets %s decrypt what it signs, and nothing else', (role, key) => {
    const decrypting = statementsOf(existing, role).filter(({ Action }) => [Action].flat().includes('kms:Decrypt'))
    expect(decrypting.map(({ Resource }) => Resource)).toEqual([key])
  })
})
