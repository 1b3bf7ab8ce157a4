import { type Named, nameOf } from './cloudformation-names.ts'
import type { Access } from './iam-accesses.ts'
import type { Resource } from './packages.ts'

/** Actions as 'service:One Other'. */
export type Row = [resource: string, actions: string, context?: Access['context']]

export const accessesIn = (rows: Row[]): Access[] =>
  rows.flatMap(([resource, actions, context = {}]) => {
    const [service, names = ''] = actions.split(':')
    return names.split(' ').map((name) => ({ action: `${service}:${name}`, resource, context }))
  })

export type Asking = ReturnType<typeof askingFor>

/** Helps to say what CloudFormation asks for on behalf of one resource. */
export function askingFor(id: string, stack: Named) {
  const { resources, account, region } = stack
  const { Properties, UpdatePolicy } = resources[id] as Resource
  const arn = (service: string, rest: string) => `arn:aws:${service}:${region}:${account}:${rest}`
  const gateway = (path: string) => `arn:aws:apigateway:${region}::${path}`
  const refOf = (value: { Ref?: string; 'Fn::GetAtt'?: [string, string] }) =>
    value.Ref ?? value['Fn::GetAtt']?.[0] ?? ''
  const nameOfRef = (value: object) => nameOf(refOf(value), stack)
  const roleArn = (role: string) =>
    `arn:aws:iam::${account}:role${resources[role]?.Properties.Path ?? '/'}${nameOf(role, stack)}`
  const boundaryOf = (role: string): Access['context'] => {
    const boundary = resources[role]?.Properties.PermissionsBoundary
    return boundary === undefined ? {} : { 'iam:PermissionsBoundary': boundary }
  }
  const pass = (value: object, service: string): Row => [
    roleArn(refOf(value)),
    'iam:PassRole',
    { 'iam:PassedToService': `${service}.amazonaws.com` },
  ]
  const functionOf = (value: object) => {
    const { Type, Properties: its } = resources[refOf(value)] as Resource
    return arn('lambda', `function:${nameOfRef(Type === 'AWS::Lambda::Alias' ? its.FunctionName : value)}`)
  }
  const own = { id, account, region, Properties, UpdatePolicy, name: () => nameOf(id, stack) }
  return { ...own, arn, gateway, refOf, nameOfRef, roleArn, boundaryOf, pass, functionOf }
}
