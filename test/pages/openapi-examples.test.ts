import { describe, expect, it } from 'vitest'
import { FILE_SHAPES } from '../../lib/http/file-shape.ts'
import { examplesOf, OPERATIONS_OF_PAGE } from './openapi-operations.ts'

describe('the examples of docs/openapi.yaml', () => {
  it.each(['promoteContainerFile', 'listDocuments', 'retrieveDocument', 'deleteDocument'])(
    'show the answer of %s in each dialect',
    (operationId) => {
      const examples = OPERATIONS_OF_PAGE.filter((each) => each.operationId === operationId).flatMap(examplesOf)
      const shapes = examples.flatMap(({ body }) => (body as { _shape?: string })._shape ?? [])
      expect(shapes.toSorted()).toEqual([...FILE_SHAPES].toSorted())
    },
  )

  it.each(OPERATIONS_OF_PAGE)('show every answer of $operationId', (operation) => {
    const shown = new Set(examplesOf(operation).map(({ status }) => status))
    expect([...shown].toSorted()).toEqual(Object.keys(operation.responses).toSorted())
  })
})
