import type { APIGatewayProxyEvent } from 'aws-lambda'
import { ServiceError } from '../errors.ts'
import { isWorkspaceId, type WorkspaceId } from '../ids.ts'

type Query = Pick<APIGatewayProxyEvent, 'queryStringParameters' | 'multiValueQueryStringParameters'>

/** A parameter without a value counts as one that was not sent: many clients send what is not set as `?after=`. */
export function queryValues(event: Query, name: string): string[] {
  const values = event.multiValueQueryStringParameters?.[name] ?? [event.queryStringParameters?.[name] ?? '']
  return values.filter((value) => value !== '')
}

/** @throws ServiceError invalid_parameter when it was sent more than once */
export function queryValue(event: Query, name: string): string | undefined {
  const values = queryValues(event, name)
  if (values.length > 1) refuseValue(name, 'Send it only once.')
  return values[0]
}

/** @throws ServiceError invalid_parameter */
export function queryChoice<Choice extends string>(event: Query, name: string, choices: readonly Choice[]) {
  const value = queryValue(event, name)
  if (value === undefined) return undefined
  const choice = choices.find((each) => each === value)
  return choice ?? refuseValue(name, `Allowed: ${choices.join(', ')}.`)
}

export function queryNames(event: Query): string[] {
  const all = Object.keys(event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {})
  return all.filter((name) => queryValues(event, name).length > 0)
}

/** @throws ServiceError unsupported_parameter */
export function refuseParameter(name: string, hint: string): never {
  const detail = `This operation does not support the parameter ${name}. ${hint}`
  throw new ServiceError('unsupported_parameter', { detail, metadata: { parameter: name } })
}

/** @throws ServiceError invalid_parameter */
export function refuseValue(name: string, detail: string): never {
  const told = `The parameter ${name} is invalid. ${detail}`
  throw new ServiceError('invalid_parameter', { detail: told, metadata: { parameter: name } })
}

export interface LimitBounds {
  default?: number
  /** The largest value accepted; anything above 1,000 is read as 1,000. */
  max?: number
}

/** The page size. @throws ServiceError invalid_limit */
export function readLimit(event: Query, { default: byDefault = 100, max = MAX_PAGE }: LimitBounds = {}): number {
  const text = queryValue(event, 'limit')
  if (text === undefined) return byDefault
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (limit >= 1 && limit <= max) return Math.min(limit, MAX_PAGE)
  const detail = `limit must be a whole number from 1 to ${max}.`
  throw new ServiceError('invalid_limit', { detail, metadata: { max_limit: max } })
}

/** The most items on any page; fewer if they would not fit into an answer. */
export const MAX_PAGE = 1000

/** @throws ServiceError invalid_parameter */
export function readWorkspaceId({ pathParameters }: APIGatewayProxyEvent): WorkspaceId {
  const text = pathParameters?.workspace_id ?? ''
  if (isWorkspaceId(text)) return text
  return refuseValue('workspace_id', 'It must be 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-".')
}
