import { beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../support/intrinsics.ts'
import { PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from '../support/packages.ts'

interface Statement {
  Sid: string
  Action: string | string[]
  Resource: unknown
  Condition?: { StringLike: { 's3:prefix': unknown } }
}

let dev: Packaged
let broughtAlong: Packaged
beforeAll(async () => {
  ;[dev, broughtAlong] = await Promise.all([packagedService('dev'), packagedService('broughtAlong')])
}, PACKAGING_TIMEOUT_MS)

const statementsOf = (service: Packaged, role: string): Statement[] =>
  service
    .resource(role)
    .Properties.Policies.flatMap(
      (policy: { PolicyDocument: { Statement: Statement[] } }) => policy.PolicyDocument.Statement,
    )

const LOG_AND_TRACE = 'logs:CreateLogStream logs:PutLogEvents xray:PutTraceSegments xray:PutTelemetryRecords'
const ACTIONS = {
  PromoteContainerFileRole: `${LOG_AND_TRACE} dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem s3:GetObject s3:ListBucket s3:PutObject s3:DeleteObject s3:AbortMultipartUpload s3:ListBucketMultipartUploads`,
  ResolveReservationsRole: `${LOG_AND_TRACE} dynamodb:Scan dynamodb:UpdateItem s3:DeleteObject s3:AbortMultipartUpload s3:ListBucketMultipartUploads`,
  AuditWorkspacesRole: `${LOG_AND_TRACE} dynamodb:Scan dynamodb:Query dynamodb:GetItem s3:ListBucket s3:ListBucketMultipartUploads s3:GetObject`,
  // Those of AWSCodeDeployRoleForLambdaLimited but for its hooks.
  TrafficShiftRole:
    'lambda:GetAlias lambda:UpdateAlias lambda:GetProvisionedConcurrencyConfig cloudwatch:DescribeAlarms s3:GetObject s3:GetObjectVersion',
}
/** What has no resource to name. */
const ANYWHERE = ['Trace', 'AskAlarms']

describe('roles', () => {
  it.each(Object.entries(ACTIONS))('grants %s no wildcard action and no resource but its own', (role, expected) => {
    const statements = statementsOf(dev, role)
    expect(new Set(statements.flatMap(({ Action }) => Action))).toEqual(new Set(expected.split(' ')))
    for (const { Sid, Resource } of statements) {
      if (!ANYWHERE.includes(Sid)) expect([Resource].flat(), Sid).not.toContain('*')
    }
  })

  it('gives every function a role of its own, and has no other but those of the gateway and the traffic shift', () => {
    const used = dev.ofType('AWS::Lambda::Function').map(({ Properties }) => Properties.Role['Fn::GetAtt'][0])
    expect(new Set([...used, 'TrafficShiftRole', 'GatewayLogRole'])).toEqual(new Set(dev.idsOfType('AWS::IAM::Role')))
    expect(new Set(used).size).toBe(3)
  })

  it.each([
    ['dev', 'PromoteContainerFileRole', 'ReadSandboxes', '<SandboxBucket>/sandboxes/*/*/*'],
    ['dev', 'PromoteContainerFileRole', 'WriteDocuments', '<DocumentsBucket>/documents/*/*/*'],
    ['dev', 'ResolveReservationsRole', 'DiscardObjects', '<DocumentsBucket>/documents/*/*/*'],
    ['dev', 'AuditWorkspacesRole', 'LookAtObjects', '<DocumentsBucket>/documents/*'],
    ['broughtAlong', 'PromoteContainerFileRole', 'ReadSandboxes', 'platform-boxes/tenants/*/boxes/*/fs/*'],
    ['broughtAlong', 'PromoteContainerFileRole', 'WriteDocuments', 'platform-documents/*/files/*/*'],
    ['broughtAlong', 'ResolveReservationsRole', 'DiscardObjects', 'platform-documents/*/files/*/*'],
    ['broughtAlong', 'AuditWorkspacesRole', 'LookAtObjects', 'platform-documents/*'],
  ])('of %s, lets %s (%s) reach the objects of the key template only', (variant, role, sid, objects) => {
    const service = variant === 'dev' ? dev : broughtAlong
    const statement = statementsOf(service, role).find(({ Sid }) => Sid === sid)
    expect(textOf(statement?.Resource)).toBe(`arn:<AWS::Partition>:s3:::${objects}`)
  })

  it('limits every listing to the prefixes of the key templates', () => {
    const prefixes = Object.keys(ACTIONS).flatMap((role) =>
      statementsOf(dev, role)
        .filter(({ Action }) => Action === 's3:ListBucket')
        .map(({ Sid, Condition }) => [Sid, textOf(Condition?.StringLike['s3:prefix'])]),
    )
    expect(prefixes).toEqual([
      ['TellMissingSandboxFiles', 'sandboxes/*/*/*'],
      ['TellMissingDocuments', 'documents/*/*/*'],
      ['ListObjects', 'documents/*'],
    ])
  })

  it('lets the audit change nothing', () => {
    const actions = statementsOf(dev, 'AuditWorkspacesRole').flatMap(({ Action }) => Action)
    const changes = actions.filter((action) => !/^(logs|xray):|:(Get|List|Query|Scan)/.test(action))
    expect(changes).toEqual([])
  })
})
