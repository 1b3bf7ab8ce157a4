import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import { parse } from 'yaml'

interface ResponseDescription {
  headers?: Record<string, { $ref?: string; required?: boolean; schema?: object }>
}

const ID = 'openapi'
export const PROMOTE = '/containers/{container_id}/files/{file_id}/promote'
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
export function expectDocumented({ status, headers, body }: AnyResponse): void {
  const responses = OPENAPI.paths[PROMOTE].post.responses as Record<string, ResponseDescription>
  const description = responses[status]
  expect(description, `status ${status} is not documented`).toBeDefined()
  const pointer = `#/paths/${PROMOTE.replaceAll('/', '~1')}/post/responses/${status}/content/application~1json/schema`
  expectValid({ $ref: `${ID}${encodeURI(pointer)}` }, body, `the body of ${status}`)
  for (const [name, header] of Object.entries(description?.headers ?? {})) {
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
