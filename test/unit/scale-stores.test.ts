import { describe, expect, it } from 'vitest'
import { createFormulaDynamoDb } from '../bench/scale/formula-dynamodb.ts'
import { createFormulaS3 } from '../bench/scale/formula-s3.ts'
import { createPopulation, namesOf, scanOrder, workspaceIdOf } from '../bench/scale/population.ts'
import { createLimitedDynamoDb } from '../support/dynamodb/limited-dynamodb.ts'

const TABLES = { workspaces: 'workspaces', reservations: 'reservations', documents: 'documents' }
const WORKSPACES = 40
const DOCUMENTS = 5000

function createStores() {
  const clock = { nowMs: 0 }
  const now = () => clock.nowMs
  const spent: { units: number; outcome: string }[] = []
  const population = createPopulation({ workspaces: WORKSPACES, documentsIn: () => DOCUMENTS })
  const written = createLimitedDynamoDb({ now, staleMs: 0 })
  const dynamoDb = createFormulaDynamoDb(written, population, TABLES, (call) => spent.push(call), now)
  const execute = async (operation: string, input: object) => {
    const { statusCode, json } = await dynamoDb.execute(operation, { ...input })
    return { statusCode, ...JSON.parse(json) }
  }
  return { clock, spent, execute, s3: createFormulaS3(population) }
}

describe('the computed DynamoDB', () => {
  it('answers a query in pages of 1 MB, each document once and in order, and charges for their size', async () => {
    const { clock, spent, execute } = createStores()
    const ids: string[] = []
    const pages: number[] = []
    let start: object = {}
    do {
      const answer = await execute('Query', {
        TableName: 'documents',
        ConsistentRead: true,
        ExpressionAttributeValues: { ':workspace_id': { S: workspaceIdOf(7) } },
        ...start,
      })
      ids.push(...answer.Items.map(({ document_id }: { document_id: { S: string } }) => document_id.S))
      pages.push(answer.Items.length)
      start = answer.LastEvaluatedKey && { ExclusiveStartKey: answer.LastEvaluatedKey }
      clock.nowMs += 1000
    } while (start)
    expect(ids).toEqual(Array.from({ length: DOCUMENTS }, (_, document) => namesOf(7, document).documentId))
    expect(pages.length).toBe(3)
    // A page is full: 256 units of 4 KB.
    expect(spent.slice(0, 2).map(({ units }) => units)).toEqual([257, 257])
  })

  it('turns away reads beyond what a partition gives', async () => {
    const { spent, execute } = createStores()
    const query = {
      TableName: 'documents',
      ConsistentRead: true,
      ExpressionAttributeValues: { ':workspace_id': { S: workspaceIdOf(7) } },
    }
    const statuses = []
    for (let count = 0; count < 12; count++) statuses.push((await execute('Query', query)).statusCode)
    // 3,000 units a second.
    expect(statuses).toEqual([...Array(11).fill(200), 400])
    expect(spent.at(-1)?.outcome).toBe('throttled')
  })

  it.each([1, 3, 8])(
    'scans every workspace once in %s segments, in another order than that of the ids',
    async (total) => {
      const { execute } = createStores()
      const ids: string[] = []
      for (let segment = 0; segment < total; segment++) {
        let start: object = {}
        do {
          const scan = { TableName: 'workspaces', Segment: segment, TotalSegments: total, Limit: 3 }
          const answer = await execute('Scan', { ...scan, ...start })
          ids.push(...answer.Items.map(({ workspace_id }: { workspace_id: { S: string } }) => workspace_id.S))
          start = answer.LastEvaluatedKey && { ExclusiveStartKey: answer.LastEvaluatedKey }
        } while (start)
      }
      const all = Array.from({ length: WORKSPACES }, (_, workspace) => workspaceIdOf(workspace))
      expect(ids.toSorted()).toEqual(all)
      expect(ids).not.toEqual(all)
    },
  )
})

describe('the computed S3', () => {
  const keysOf = (xml: string, element: string) =>
    [...xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))].map(([, key]) => key)

  it('lists a thousand keys at a time, each once', () => {
    const { s3 } = createStores()
    const prefix = `documents/${workspaceIdOf(3)}/`
    const keys: (string | undefined)[] = []
    let token: string | undefined
    do {
      const query = { 'list-type': '2', prefix, ...(token && { 'continuation-token': token }) }
      const { xml } = s3.answer({ method: 'GET', key: '', query })
      const page = keysOf(xml, 'Key')
      expect(page.length).toBe(1000)
      keys.push(...page)
      token = keysOf(xml, 'NextContinuationToken')[0]
    } while (token)
    expect(keys).toEqual(Array.from({ length: DOCUMENTS }, (_, document) => namesOf(3, document).objectKey))
  })

  it('lists the folders of one level, from behind a name', () => {
    const { s3 } = createStores()
    const after = `documents/${workspaceIdOf(9)}/`
    const query = { 'list-type': '2', prefix: 'documents/', delimiter: '/', 'start-after': after }
    const { xml } = s3.answer({ method: 'GET', key: '', query })
    const [root, ...folders] = keysOf(xml, 'Prefix')
    expect(root).toBe('documents/')
    expect(folders).toEqual(Array.from({ length: 30 }, (_, index) => `documents/${workspaceIdOf(10 + index)}/`))
  })
})

describe('the order of a scan', () => {
  it.each([1, 2, 10, 1000, 9973])('of %s is a permutation, and knows its inverse', (count) => {
    const { at, placeOf } = scanOrder(count)
    const numbers = Array.from({ length: count }, (_, place) => at(place))
    expect(numbers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: count }, (_, number) => number))
    expect(numbers.map(placeOf)).toEqual(Array.from({ length: count }, (_, place) => place))
  })
})
