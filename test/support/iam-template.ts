import type { Statement } from './iam-policies.ts'
import type { Resource } from './packaged-service.ts'

type Intrinsic = string | { Ref: string } | { 'Fn::GetAtt': [string, string] } | { 'Fn::Join': [string, Intrinsic[]] }

interface TemplateStatement {
  Sid: string
  Effect: 'Allow' | 'Deny'
  Action: string | string[]
  Resource: Intrinsic | Intrinsic[]
  Condition?: Statement['condition']
}

/** A role's statements with its references replaced by names, as they will be once it is deployed. */
export function readStatements(resources: Record<string, Resource>, role: string): Statement[] {
  const policies: { PolicyDocument: { Statement: TemplateStatement[] } }[] = resources[role]?.Properties.Policies ?? []
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .map(({ Sid, Effect, Action, Resource, Condition }) => ({
      Sid,
      Effect,
      actions: [Action].flat(),
      resources: [Resource].flat().map((arn) => withoutAccount(resolve(arn, resources))),
      condition: Condition ?? {},
    }))
}

function resolve(value: Intrinsic, resources: Record<string, Resource>): string {
  if (typeof value === 'string') return value
  if ('Ref' in value) return value.Ref === 'AWS::Partition' ? 'aws' : unknown(value)
  if ('Fn::Join' in value) {
    const [separator, parts] = value['Fn::Join']
    return parts.map((part) => resolve(part, resources)).join(separator)
  }
  const [name] = value['Fn::GetAtt']
  const { Type, Properties } = resources[name] ?? unknown(value)
  if (Type === 'AWS::DynamoDB::Table') return `arn:aws:dynamodb:region:account:table/${Properties.TableName}`
  if (Type === 'AWS::Logs::LogGroup') return `arn:aws:logs:region:account:log-group:${Properties.LogGroupName}`
  return unknown(value)
}

function unknown(value: unknown): never {
  throw new Error(`${JSON.stringify(value)} cannot be resolved here`)
}

/** What follows partition, service, region and account; `*` stays. */
function withoutAccount(arn: string): string {
  return arn === '*' ? arn : arn.split(':').slice(5).join(':')
}
