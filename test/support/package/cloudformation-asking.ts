import { type Named, nameOf } from './cloudformation-names.ts'
import type { Access } from './iam-accesses.ts'
import type { Resource } from './packages.ts'

export type Asking = ReturnType<typeof askingFor>

/** What it takes to say what CloudFormation asks for on behalf of one resource. */
export function askingFor(id: string, stack: Named) {
  const { resources, account, region } = stack
  const { Type, Properties } = resources[id] as Resource
  const arn = (service: string, rest: string) => `arn:aws:${service}:${region}:${account}:${rest}`
  const on = (resource: string, service: string, actions: string, context: Access['context'] = {}): Access[] =>
    actions.split(' ').map((action) => ({ action: `${service}:${action}`, resource, context }))
  const name = () => nameOf(id, stack)
  const gateway = (path: string) => `arn:aws:apigateway:${region}::${path}`
  const refOf = (value: { Ref?: string; 'Fn::GetAtt'?: [string, string] }) =>
    value.Ref ?? value['Fn::GetAtt']?.[0] ?? ''
  const roleArn = (role: string) =>
    `arn:aws:iam::${account}:role${resources[role]?.Properties.Path ?? '/'}${nameOf(role, stack)}`
  const boundaryOf = (role: string): Access['context'] => {
    const boundary = resources[role]?.Properties.PermissionsBoundary
    return boundary === undefined ? {} : { 'iam:PermissionsBoundary': boundary }
  }
  const pass = (value: object, service: string) =>
    on(roleArn(refOf(value)), 'iam', 'PassRole', { 'iam:PassedToService': `${service}.amazonaws.com` })
  const functionOf = (value: object) => {
    const referred = refOf(value)
    const { Type: itsType, Properties: its } = resources[referred] as Resource
    return arn(
      'lambda',
      `function:${nameOf(itsType === 'AWS::Lambda::Alias' ? its.FunctionName.Ref : referred, stack)}`,
    )
  }
  return { Type, Properties, arn, on, name, gateway, refOf, roleArn, boundaryOf, pass, functionOf }
}
