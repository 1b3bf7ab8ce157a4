import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import { parse } from 'yaml'

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

/** Fails when docs/openapi.yaml does not describe the response: its status, each of its headers, its body. */
export function expectDocumented({ status, headers, body }: AnyResponse, operation = PROMOTE): void {
  const response = describedAt(`${pointerOf(operation)}/responses/${status}`)
  expectValid(`${response.pointer}/content/application~1json/schema`, body, `the body of ${status}`)
  for (const name of Object.keys(response.description?.headers ?? {})) {
    const { pointer, description } = describedAt(`${response.pointer}/headers/${name}`)
    const value = headers[name.toLowerCase()]
    if (value !== undefined) expectValid(`${pointer}/schema`, value, `${name} of ${status}`)
    else if (description.required) expect.fail(`${status} lacks ${name}`)
  }
}

/** Whether docs/openapi.yaml allows this body of a request. */
export function isDocumentedBody(body: unknown, operation: DocumentedOperation): boolean {
  return schemaAt(`${pointerOf(operation)}/requestBody/content/application~1json/schema`)(body) === true
}

const pointerOf = ({ method, path }: DocumentedOperation) => `/paths/${path.replaceAll('/', '~1')}/${method}`

/** What is at this place of docs/openapi.yaml, or at the one to which that refers. */
function describedAt(pointer: string): { pointer: string; description: typeof OPENAPI } {
  const keys = pointer.split('/').slice(1)
  const description = keys.reduce((node, key) => node?.[key.replaceAll('~1', '/')], OPENAPI)
  return description?.$ref ? describedAt(description.$ref.slice(1)) : { pointer, description }
}

/** Compiled once, and used for thousands of hostile requests. */
const schemaAt = (pointer: string): ValidateFunction =>
  ajv.getSchema(`${ID}#${encodeURI(pointer)}`) ?? expect.fail(`docs/openapi.yaml has no ${pointer}`)

function expectValid(pointer: string, value: unknown, what: string): void {
  const isValid = schemaAt(pointer)
  if (!isValid(value)) expect.fail(`${what}: ${JSON.stringify(value)}: ${ajv.errorsText(isValid.errors)}`)
}
