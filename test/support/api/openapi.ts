import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import { parse } from 'yaml'

interface ResponseDescription {
  headers?: Record<string, { $ref?: string; required?: boolean; schema?: object }>
}

/** An operation of docs/openapi.yaml. */
export interface DocumentedOperation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
}

const ID = 'openapi'
export const PROMOTE: DocumentedOperation = {
  method: 'post',
  path: '/containers/{container_id}/files/{file_id}/promote',
}
export const OPENAPI = parse(readFileSync(join(import.meta.dirname, '../../../docs/openapi.yaml'), 'utf8'))
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(OPENAPI, ID)

/** Every error.metadata.reason of docs/openapi.yaml, as often as it occurs there. */
export const DOCUMENTED_REASONS: string[] = Object.entries<{
  properties?: { reason?: { enum?: string[]; const?: string } }
}>(OPENAPI.components.schemas).flatMap(([name, { properties }]) => {
  const { enum: several, const: one } = properties?.reason ?? {}
  return name.endsWith('Metadata') ? (several ?? [one ?? '']) : []
})

export interface AnyResponse {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: unknown
}

interface DocumentedResponse {
  isBodyValid: ValidateFunction
  headers: { name: string; isRequired: boolean; isValid: ValidateFunction }[]
}

/** By status and operation: compiled once, and looked at by thousands of hostile requests. */
const documented = new Map<string, DocumentedResponse>()

/** Fails when docs/openapi.yaml does not describe the response: its status, each of its headers, its body. */
export function expectDocumented(
  { status, headers, body }: AnyResponse,
  operation: DocumentedOperation = PROMOTE,
): void {
  const { isBodyValid, headers: described } = documentedResponse(status, operation)
  expectValid(isBodyValid, body, `the body of ${status}`)
  for (const { name, isRequired, isValid } of described) {
    const value = headers[name.toLowerCase()]
    if (value !== undefined) expectValid(isValid, value, `${name} of ${status}`)
    else if (isRequired) expect.fail(`${status} lacks ${name}`)
  }
}

/** Whether docs/openapi.yaml allows this body of a request. */
export function isDocumentedBody(body: unknown, { method, path }: DocumentedOperation): boolean {
  const pointer = `#/paths/${path.replaceAll('/', '~1')}/${method}/requestBody/content/application~1json/schema`
  return ajv.validate({ $ref: `${ID}${encodeURI(pointer)}` }, body)
}

function documentedResponse(status: number, { method, path }: DocumentedOperation): DocumentedResponse {
  const key = `${status} of ${method} ${path}`
  const known = documented.get(key)
  if (known) return known
  const pointer = `#/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}`
  const reference: { $ref?: string } | undefined = OPENAPI.paths[path]?.[method]?.responses[status]
  if (reference === undefined) return expect.fail(`status ${key} is not documented`)
  const description: ResponseDescription = reference.$ref ? resolve(reference.$ref) : reference
  const content = `${reference.$ref ?? pointer}/content/application~1json/schema`
  const response = {
    isBodyValid: ajv.compile({ $ref: `${ID}${encodeURI(content)}` }),
    headers: Object.entries(description.headers ?? {}).map(([name, header]) => {
      const { required = false, schema = {} } = header.$ref ? resolve(header.$ref) : header
      return { name, isRequired: required, isValid: ajv.compile(schema) }
    }),
  }
  documented.set(key, response)
  return response
}

function expectValid(isValid: ValidateFunction, value: unknown, what: string): void {
  if (!isValid(value)) expect.fail(`${what}: ${JSON.stringify(value)}: ${ajv.errorsText(isValid.errors)}`)
}

function resolve(ref: string) {
  return ref
    .slice(2)
    .split('/')
    .reduce((node, key) => node[key], OPENAPI)
}
