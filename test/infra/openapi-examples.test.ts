import { describe, expect, it } from 'vitest'
import { REASONS, type Reason } from '../../lib/errors.ts'
import { FILE_SHAPES } from '../../lib/http/file-shape.ts'
import { OPENAPI } from '../support/http/openapi.ts'

interface Example {
  status: string
  value: { _shape?: string; error?: { code: number; message: string; metadata: { reason: string; detail: string } } }
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

const errors = operations.flatMap(({ responses }) =>
  examplesOf(responses).flatMap(({ status, value: { error } }) => (error ? [{ status, error }] : [])),
)

/** Reasons whose sentence says what is wrong with the very request. */
const WITH_OWN_SENTENCES: readonly string[] = [
  'malformed_authorization',
  'permission_denied',
  'invalid_file_id',
  'invalid_limit',
  'invalid_parameter',
  'unsupported_parameter',
  'file_not_downloadable',
] satisfies Reason[]

describe('the examples of docs/openapi.yaml', () => {
  it('have the sentence of their reason', () => {
    const told = errors.filter(({ error: { metadata } }) => {
      return metadata.reason in REASONS && !WITH_OWN_SENTENCES.includes(metadata.reason)
    })
    const sentences = (detailOf: (metadata: { reason: string; detail: string }) => string | undefined) =>
      told.map(({ error: { metadata } }) => `${metadata.reason}: ${detailOf(metadata)}`)
    expect(sentences(({ detail }) => detail)).toEqual(sentences(({ reason }) => REASONS[reason as Reason].detail))
  })

  it('show every reason, each under its own status', () => {
    for (const { status, error } of errors) {
      // The gateway has reasons of its own.
      const row = REASONS[error.metadata.reason as keyof typeof REASONS] ?? { status: error.code }
      expect([error.code, row.status], error.metadata.reason).toEqual([Number(status), Number(status)])
    }
    const shown = errors.map(({ error }) => error.metadata.reason)
    expect(shown).toEqual(expect.arrayContaining(Object.keys(REASONS)))
  })

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
