import { describe, expect, it } from 'vitest'
import { templateStatements } from '../support/template/iam-template.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { EXISTING, type Packaged, packagedServices } from '../support/template/packages.ts'

const [dev, existing] = await packagedServices('dev', 'existing')

/** Step Functions needs these to write to a log group: Step Functions developer guide, "Logging". */
const LOG_DELIVERY =
  'logs:CreateLogDelivery logs:GetLogDelivery logs:UpdateLogDelivery logs:DeleteLogDelivery logs:ListLogDeliveries logs:PutResourcePolicy logs:DescribeResourcePolicies logs:DescribeLogGroups'
/** Roles that no function has: those of functions are compared with the calls that they make, in policies.test.ts. */
const ACTIONS = {
  AuditRoundScheduleRole: 'states:StartExecution',
  AuditRoundRole: `lambda:InvokeFunction states:ListExecutions states:StartExecution states:DescribeExecution states:StopExecution xray:PutTraceSegments xray:PutTelemetryRecords xray:GetSamplingRules xray:GetSamplingTargets ${LOG_DELIVERY}`,
  // Those of AWSCodeDeployRoleForLambdaLimited but for its hooks.
  TrafficShiftRole:
    'lambda:GetAlias lambda:UpdateAlias lambda:GetProvisionedConcurrencyConfig cloudwatch:DescribeAlarms s3:GetObject s3:GetObjectVersion',
}
const functionRoles = dev.propertiesOf('AWS::Lambda::Function').map(({ Role }): string => Role['Fn::GetAtt'][0])
const allRoles = [...Object.keys(ACTIONS), ...functionRoles]
/** Statements whose actions have no resource to name. */
const ANYWHERE = ['Trace', 'AskAlarms', 'DeliverLogs']

describe('roles', () => {
  it.each(Object.entries(ACTIONS))('grants %s no wildcard action and no resource but its own', (role, expected) => {
    const statements = templateStatements(dev, role)
    expect(new Set(statements.flatMap(({ Action }) => Action))).toEqual(new Set(expected.split(' ')))
    for (const { Sid, Resource } of statements) {
      if (!ANYWHERE.includes(Sid ?? '')) expect([Resource].flat(), Sid).not.toContain('*')
    }
  })

  it('gives every function a role of its own, and has no other but those of gateway, traffic shift and rounds', () => {
    expect([...allRoles, 'GatewayLogRole'].toSorted()).toEqual(dev.idsOfType('AWS::IAM::Role').toSorted())
  })

  it.each([
    ['ReadDocumentsRole', 'ReadDocuments', 'platform-documents/*/files/*/*'],
    ['ReadContainerFilesRole', 'ReadSandboxes', 'platform-boxes/tenants/*/boxes/*/fs/*'],
    ['PromoteContainerFileRole', 'ReadSandboxes', 'platform-boxes/tenants/*/boxes/*/fs/*'],
    ['PromoteContainerFileRole', 'WriteDocuments', 'platform-documents/*/files/*/*'],
    ['WriteContainerFilesRole', 'ReadDocuments', 'platform-documents/*/files/*/*'],
    ['WriteContainerFilesRole', 'WriteSandboxes', 'platform-boxes/tenants/*/boxes/*/fs/*'],
    ['ResolveDueWorkRole', 'DiscardObjects', 'platform-documents/*/files/*/*'],
    ['AuditWorkspacesRole', 'LookAtObjects', 'platform-documents/*'],
    ['SandboxWriterRole', 'ReadAndWriteSandboxes', 'platform-boxes/tenants/*/boxes/*/fs/*'],
  ])('lets %s (%s) reach the objects of the key template only', (role, sid, objects) => {
    const statement = templateStatements(existing, role).find(({ Sid }) => Sid === sid)
    expect(textOf(statement?.Resource)).toBe(`arn:<AWS::Partition>:s3:::${objects}`)
  })

  const OWN_ACCOUNT = { Ref: 'AWS::AccountId' }

  it('reach buckets of the account that they are meant to be in only, whoever takes a name that was given up', () => {
    const accountsOf = (service: Packaged, roles = allRoles) => {
      const statements = roles.flatMap((role) => templateStatements(service, role))
      const inS3 = statements.filter(({ Action }) => [Action].flat().some((each) => each.startsWith('s3:')))
      // CodeDeploy's revisions may be anywhere.
      const ofBuckets = inS3.filter(({ Sid }) => Sid !== 'ReadRevisions')
      return ofBuckets.map(({ Resource, Condition }) => {
        const which = /sandbox|boxes/i.test(textOf(Resource)) ? 'sandboxes' : 'documents'
        return [which, Condition?.StringEquals?.['aws:ResourceAccount']]
      })
    }
    expect(accountsOf(dev).length).toBeGreaterThan(14)
    for (const [, account] of accountsOf(dev)) expect(account).toEqual(OWN_ACCOUNT)
    for (const [which, account] of accountsOf(existing, [...allRoles, 'SandboxWriterRole'])) {
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
    const policies = dev.propertiesOf('AWS::SNS::TopicPolicy')
    expect(policies.map(({ Topics }) => Topics[0].Ref)).toEqual(dev.idsOfType('AWS::SNS::Topic'))
    const Principal = { Service: 'cloudwatch.amazonaws.com' }
    const Condition = { StringEquals: { 'aws:SourceAccount': OWN_ACCOUNT } }
    for (const { PolicyDocument } of policies) {
      const allowed = { Principal, Action: 'sns:Publish', Condition }
      expect(PolicyDocument.Statement).toMatchObject([allowed, { Effect: 'Deny' }])
    }
  })
})
