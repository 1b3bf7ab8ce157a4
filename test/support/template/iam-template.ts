import { readStatement, type Statement, type WrittenStatement } from './iam-policies.ts'
import { textOf } from './intrinsics.ts'
import type { Packaged } from './packages.ts'

/** Values without colons, because an ARN is split at these. */
const PLACE = { 'AWS::Partition': 'aws', 'AWS::Region': 'region', 'AWS::AccountId': 'account' }

/** The statements of a role's own policies and of those that are attached to it. */
export function templateStatements(service: Packaged, role: string): WrittenStatement[] {
  const attached = service.propertiesOf('AWS::IAM::RolePolicy').filter(({ RoleName }) => RoleName.Ref === role)
  const policies: { PolicyDocument: { Statement: WrittenStatement[] } }[] = [
    ...(service.resource(role).Properties.Policies ?? []),
    ...attached,
  ]
  return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
}

/** A role's statements with its references replaced by names, as they will be once it is deployed. */
export function readStatements(service: Packaged, role: string): Statement[] {
  return templateStatements(service, role).map(({ Condition = {}, ...written }) => {
    const texts = (keys: object) => Object.fromEntries(Object.entries(keys).map(([key, text]) => [key, textOf(text)]))
    const condition = Object.entries(Condition).map(([operator, keys]) => [operator, texts(keys)])
    return readStatement({ ...written, Condition: Object.fromEntries(condition) }, (arn) =>
      withoutAccount(arnOf(arn, service, PLACE)),
    )
  })
}

/** The kinds of resources that roles name by their ARN: service, and what stands before and in the name. */
const ARNS: Record<string, [service: string, kind: string, name: string]> = {
  'AWS::DynamoDB::Table': ['dynamodb', 'table/', 'TableName'],
  'AWS::Lambda::Function': ['lambda', 'function:', 'FunctionName'],
  'AWS::Logs::LogGroup': ['logs', 'log-group:', 'LogGroupName'],
  'AWS::SQS::Queue': ['sqs', '', 'QueueName'],
  'AWS::StepFunctions::StateMachine': ['states', 'stateMachine:', 'StateMachineName'],
}

/** @param place partition, region and account */
export function arnOf(value: unknown, service: Packaged, place: Readonly<Record<string, string>>): string {
  return textOf(value, place).replace(/<(\w+?)(\.Arn|\.StreamArn)?>/g, (_, id: string, attribute?: string) => {
    const { Type, Properties } = service.resource(id)
    const [of, kind, name = ''] = ARNS[Type] ?? []
    if (of === undefined) return `container-file-promotion-dev-${id.toLowerCase()}-x`
    const named = Properties[name] ?? `container-file-promotion-dev-${id}-x`
    const stream = attribute === '.StreamArn' ? '/stream/2026-11-21T09:00' : ''
    return `arn:aws:${of}:${place['AWS::Region']}:${place['AWS::AccountId']}:${kind}${named}${stream}`
  })
}

/** The rest follows partition, service, region and account; `*` stays. */
export function withoutAccount(arn: string): string {
  return arn === '*' ? arn : arn.split(':').slice(5).join(':')
}
