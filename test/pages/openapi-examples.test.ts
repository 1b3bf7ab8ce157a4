import { describe, expect, it } from 'vitest'
import { FILE_SHAPES } from '../../lib/http/file-shape.ts'
import { OPENAPI } from '../support/api/openapi.ts'

interface Example {
  status: string
  value: { _shape?: string }
}
interface Media {
  example?: Example['value']
  examples?: Record<string, { value: Example['value'] }>
}
interface Answer {
  $ref?: string
  content?: { 'application/json': Media }
}

function examplesOf(answers: Record<string, Answer>): Example[] {
  return Object.entries(answers).flatMap(([status, answer]) => {
    const name = answer.$ref?.split('/').at(-1) ?? ''
    const media = (OPENAPI.components.responses[name] ?? answer).content?.['application/json'] as Media | undefined
    const values = [media?.example, ...Object.values(media?.examples ?? {}).map(({ value }) => value)]
    return values.flatMap((value) => (value === undefined ? [] : [{ status, value }]))
  })
}

const operations = Object.values(OPENAPI.paths as Record<string, Record<string, unknown>>)
  .flatMap((path) => Object.values(path))
  .filter((each): each is { operationId: string; responses: Record<string, Answer> } => {
    return typeof each === 'object' && each !== null && 'operationId' in each
  })

describe('the examples of docs/openapi.yaml', () => {
  it.each(['promoteContainerFile', 'listDocuments', 'retrieveDocument', 'deleteDocument'])(
    'show the answer of %s in each dialect',
    (operationId) => {
      const { responses = {} } = operations.find((each) => each.operationId === operationId) ?? {}
      const shapes = examplesOf(responses).flatMap(({ value }) => value._shape ?? [])
      expect(shapes.toSorted()).toEqual([...FILE_SHAPES].toSorted())
    },
  )

  it.each(operations.map(({ operationId, responses }) => [operationId, responses] as const))(
    'show every answer of %s',
    (_, responses) => {
      const shown = new Set(examplesOf(responses).map(({ status }) => status))
      expect([...shown].toSorted()).toEqual(Object.keys(responses).toSorted())
    },
  )
})
