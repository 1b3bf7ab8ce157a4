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
  method: 'get' | 'post' | 'delete'
  path: string
}

const ID = 'openapi'
export const PROMOTE: DocumentedOperation = {
  method: 'post',
  path: '/containers/{container_id}/files/{file_id}/promote',
}
export const OPENAPI = parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.yaml'), 'utf8'))
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(OPENAPI, ID)

/** Every error.metadata.reason that docs/openapi.yaml knows, as often as it does. */
export const DOCUMENTED_REASONS: string[] = Object.entries<{
  properties?: { reason?: { enum?: string[]; const?: string } }
}>(OPENAPI.components.schemas).flatMap(([name, { properties }]) => {
  const { enum: several, const: one } = properties?.reason ?? {}
  return name.endsWith('Metadata') ? (several ?? [one ?? '']) : []
})

/** By the schema's text. */
const compiled = new Map<string, ValidateFunction>()

export interface AnyResponse {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: unknown
}

/** Fails when docs/openapi.yaml does not describe the response: its status, each of its headers, its body. */
export function expectDocumented(
  { status, headers, body }: AnyResponse,
  { method, path }: DocumentedOperation = PROMOTE,
): void {
  const pointer = `#/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}`
  const reference: { $ref?: string } | undefined = OPENAPI.paths[path]?.[method]?.responses[status]
  expect(reference, `status ${status} of ${method} ${path} is not documented`).toBeDefined()
  const description: ResponseDescription = reference?.$ref ? resolve(reference.$ref) : (reference ?? {})
  const content = `${reference?.$ref ?? pointer}/content/application~1json/schema`
  expectValid({ $ref: `${ID}${encodeURI(content)}` }, body, `the body of ${status}`)
  for (const [name, header] of Object.entries(description.headers ?? {})) {
    const { required, schema } = header.$ref ? resolve(header.$ref) : header
    const value = headers[name.toLowerCase()]
    if (required) expect(value, `${status} lacks ${name}`).toBeDefined()
    if (value !== undefined) expectValid(schema ?? {}, value, `${name} of ${status}`)
  }
}

function expectValid(schema: object, value: unknown, what: string): void {
  const key = JSON.stringify(schema)
  const validate = compiled.get(key) ?? ajv.compile(schema)
  compiled.set(key, validate)
  expect(validate(value) ? [] : validate.errors, `${what}: ${JSON.stringify(value)}`).toEqual([])
}

function resolve(ref: string) {
  return ref
    .slice(2)
    .split('/')
    .reduce((node, key) => node[key], OPENAPI)
}
