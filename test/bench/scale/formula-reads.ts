import { marshall } from '@aws-sdk/util-dynamodb'
import { type Item, itemSizeBytes, readUnits } from '../../support/dynamodb/capacity.ts'
import { throttled } from '../../support/dynamodb/failures.ts'
import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'
import { createThroughput, DYNAMODB_LIMITS } from '../../support/dynamodb/throughput.ts'
import { capacity, idInQuery, type Key, type ReadInput, type Tables } from './dynamodb-input.ts'
import {
  bytesIn,
  documentFrom,
  documentJson,
  hasRecord,
  namesOf,
  type Population,
  QUOTA_BYTES,
  scanOrder,
  workspaceIdOf,
  workspaceOf,
} from './population.ts'

/** Is told of the reads that are answered by the formula. */
export type OnCall = (call: Pick<Consumption, 'operation' | 'table' | 'units' | 'outcome'>) => void

/** Of a query or scan: Amazon DynamoDB developer guide, "Paginating table query results". */
const PAGE_BYTES = 1024 ** 2
/** Of a table on demand that is new; a large one has more. */
const PARTITIONS = 4

/** The reads of items that were never written, each computed from the workspace's number. */
export function createFormulaReads({
  population,
  tables,
  onCall,
  now,
}: {
  population: Population
  tables: Tables
  onCall: OnCall
  now(): number
}) {
  const order = scanOrder(population.workspaces)
  const throughput = createThroughput(DYNAMODB_LIMITS, now)

  return {
    ledgerOf,
    getLedger,
    getDocument,
    queryDocuments,
    queryNothing: (input: ReadInput) => page([], 0, undefined, input, 'Query'),
    scanWorkspaces,
    scanForWorkspaces,
  }

  function ledgerOf(id: string): Item | undefined {
    const workspace = workspaceOf(id, population)
    if (workspace === undefined) return undefined
    const plant = population.plants.get(workspace)
    if (plant?.kind === 'without_ledger') return undefined
    const usedBytes = bytesIn(workspace, population) + (plant?.kind === 'drift' ? 1 : 0)
    return marshall({
      workspace_id: id,
      quota_bytes: QUOTA_BYTES,
      remaining_bytes: QUOTA_BYTES - usedBytes,
      takings: {},
      releases: {},
      version: population.documentsIn(workspace) * 2,
    }) as Item
  }

  function getLedger(id: string, input: ReadInput): string {
    const item = ledgerOf(id)
    const units = readUnits(itemSizeBytes(item), input.ConsistentRead === true)
    charge('GetItem', tables.workspaces, workspaceOf(id, population), units)
    return JSON.stringify({ ...(item && { Item: item }), ...capacity(units, input) })
  }

  function getDocument(input: ReadInput): string {
    const { Key: { workspace_id, document_id } = {} } = input
    const workspace = workspaceOf(workspace_id?.S ?? '', population)
    const document = workspace === undefined ? Number.NaN : documentFrom(document_id?.S ?? '', workspace)
    const isThere =
      workspace !== undefined &&
      document < population.documentsIn(workspace) &&
      namesOf(workspace, document).documentId === document_id?.S &&
      hasRecord(workspace, document, population)
    charge('GetItem', tables.documents, workspace, 1)
    const item = isThere ? `"Item":${documentJson(workspace, document, population)},` : ''
    return `{${item}"ConsumedCapacity":{"CapacityUnits":1}}`
  }

  function queryDocuments(input: ReadInput): string {
    const id = idInQuery(input)
    const workspace = workspaceOf(id, population)
    if (workspace === undefined) return page([], 0, undefined, input, 'Query')
    const startId = input.ExclusiveStartKey?.document_id?.S
    const items: string[] = []
    const documents = population.documentsIn(workspace)
    let bytes = 0
    let last: string | undefined
    for (
      let document = startId === undefined ? 0 : documentBehind(startId, workspace);
      document < documents;
      document++
    ) {
      if (!hasRecord(workspace, document, population)) continue
      const json = documentJson(workspace, document, population)
      items.push(json)
      // What DynamoDB counts is the item without the marks of JSON.
      bytes += json.length - JSON_MARKS
      last = namesOf(workspace, document).documentId
      if (bytes >= PAGE_BYTES || items.length === input.Limit) {
        return page(items, bytes, { workspace_id: { S: id }, document_id: { S: last } }, input, 'Query')
      }
    }
    return page(items, bytes, undefined, input, 'Query')
  }

  function scanWorkspaces(input: ReadInput): string {
    const items: string[] = []
    let bytes = 0
    for (const workspace of inScanOrder(input, input.ExclusiveStartKey?.workspace_id?.S)) {
      const id = workspaceIdOf(workspace)
      const item = ledgerOf(id)
      if (item === undefined) continue
      items.push(JSON.stringify(input.ProjectionExpression === 'workspace_id' ? { workspace_id: { S: id } } : item))
      bytes += itemSizeBytes(item)
      if (bytes >= PAGE_BYTES || items.length === input.Limit) {
        return page(items, bytes, { workspace_id: { S: id } }, input, 'Scan')
      }
    }
    return page(items, bytes, undefined, input, 'Scan')
  }

  /** One item of each workspace after the other, as the audit looks for documents whose workspace has no ledger. */
  function scanForWorkspaces(input: ReadInput): string {
    const startId = input.ExclusiveStartKey?.workspace_id?.S
    if (input.Limit !== 1) throw new Error('the formula scans documents one by one only')
    for (const workspace of inScanOrder(input, startId)) {
      if (population.documentsIn(workspace) === 0) continue
      const document = hasRecord(workspace, 0, population) ? 0 : 1
      if (document >= population.documentsIn(workspace)) continue
      const key = {
        workspace_id: { S: workspaceIdOf(workspace) },
        document_id: { S: namesOf(workspace, document).documentId },
      }
      const bytes = documentJson(workspace, document, population).length - JSON_MARKS
      return page([JSON.stringify(key)], bytes, key, input, 'Scan')
    }
    return page([], 0, undefined, input, 'Scan')
  }

  /** The workspaces of a segment, in the order of their hashes, from behind the one that is given. */
  function* inScanOrder({ Segment = 0, TotalSegments = 1 }: ReadInput, startId: string | undefined) {
    const { workspaces } = population
    const start = startId === undefined ? undefined : workspaceOf(startId, population)
    const first = Math.floor((Segment * workspaces) / TotalSegments)
    const end = Math.floor(((Segment + 1) * workspaces) / TotalSegments)
    for (let place = start === undefined ? first : order.placeOf(start) + 1; place < end; place++) yield order.at(place)
  }

  /** Takes the units out of the partition that the workspace is in. @throws DynamoDbFailure */
  function charge(operation: string, table: string, workspace: number | undefined, units: number): void {
    const place = workspace === undefined ? 0 : order.placeOf(workspace)
    const partition = Math.floor((place * PARTITIONS) / population.workspaces)
    const isAdmitted = throughput.take('read', `${table}/${partition}`, units)
    onCall({ operation, table, units, outcome: isAdmitted ? 'done' : 'throttled' })
    if (!isAdmitted) throw throttled({ TableName: table, TableArn: table, KeySchema: [] }, 'Read', undefined)
  }

  function page(
    items: string[],
    bytes: number,
    lastKey: Key | undefined,
    input: ReadInput,
    operation: 'Query' | 'Scan',
  ): string {
    const units = readUnits(bytes, input.ConsistentRead === true)
    const id = lastKey?.workspace_id?.S ?? idInQuery(input)
    charge(operation, input.TableName, workspaceOf(id, population), units)
    const rest = { ...(lastKey && { LastEvaluatedKey: lastKey }), ...capacity(units, input) }
    const counts = `"Count":${items.length},"ScannedCount":${items.length}`
    return `{"Items":[${items.join(',')}],${counts}${JSON.stringify(rest)
      .replace(/^\{(?!\})/, ',')
      .replace(/^\{\}$/, '}')}`
  }
}

/** Braces, quotation marks, commas and types in {@link documentJson}. */
const JSON_MARKS = 12 * 10

function documentBehind(id: string, workspace: number): number {
  const document = documentFrom(id, workspace)
  return Number.isFinite(document) && namesOf(workspace, document).documentId === id ? document + 1 : document
}
