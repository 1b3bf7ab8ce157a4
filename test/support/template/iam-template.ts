import type { Statement } from './iam-policies.ts'
import { textOf } from './intrinsics.ts'
import type { Packaged, Resource } from './packages.ts'

interface TemplateStatement {
  Sid: string
  Effect: 'Allow' | 'Deny'
  Action: string | string[]
  Resource: unknown
  Condition?: Record<string, Record<string, unknown>>
}

/** Without colons, by which an ARN is split. */
const PLACE = { 'AWS::Partition': 'aws', 'AWS::Region': 'region', 'AWS::AccountId': 'account' }

/** A role's statements with its references replaced by names, as they will be once it is deployed. */
export function readStatements(service: Packaged, role: string): Statement[] {
  const policies: { PolicyDocument: { Statement: TemplateStatement[] } }[] = service.resource(role).Properties.Policies
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .map(({ Sid, Effect, Action, Resource, Condition = {} }) => ({
      Sid,
      Effect,
      actions: [Action].flat(),
      resources: [Resource].flat().map((arn) => withoutAccount(arnOf(arn, service))),
      condition: Object.fromEntries(
        Object.entries(Condition).map(([operator, keys]) => [
          operator,
          Object.fromEntries(Object.entries(keys).map(([key, pattern]) => [key, textOf(pattern)])),
        ]),
      ),
    }))
}

function arnOf(value: unknown, service: Packaged): string {
  return textOf(value, PLACE).replace(/<(\w+)\.Arn>/, (_, id: string) => arnOfResource(service.resource(id)))
}

function arnOfResource({ Type, Properties }: Resource): string {
  if (Type === 'AWS::DynamoDB::Table') return `arn:aws:dynamodb:region:account:table/${Properties.TableName}`
  if (Type === 'AWS::Logs::LogGroup') return `arn:aws:logs:region:account:log-group/${Properties.LogGroupName}`
  throw new Error(`the ARN of ${Type} is not known here`)
}

/** What follows partition, service, region and account; `*` stays. */
function withoutAccount(arn: string): string {
  return arn === '*' ? arn : arn.split(':').slice(5).join(':')
}
