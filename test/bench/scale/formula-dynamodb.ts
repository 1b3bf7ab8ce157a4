import type { Content } from '../../support/dynamodb/dynalite.ts'
import { DynamoDbFailure } from '../../support/dynamodb/failures.ts'
import type { LimitedDynamoDb } from '../../support/dynamodb/limited-dynamodb.ts'
import { idInQuery, type Key, type ReadInput, type Tables } from './dynamodb-input.ts'
import { createFormulaReads, type OnCall } from './formula-reads.ts'
import type { Population } from './population.ts'

export interface DynamoDbAnswer {
  statusCode: number
  json: string
}

/**
 * DynamoDB with more items than anybody could hold: what was never written is computed from its number when it is asked for,
 * what was written is in the DynamoDB behind it, with the limits of the real one.
 *
 * @param written holds the tables; writes and reads of what was written go there, and are counted there
 * @param onCall is told of the reads that are answered by the formula
 */
export function createFormulaDynamoDb(
  written: LimitedDynamoDb,
  population: Population,
  tables: Tables,
  onCall: OnCall,
  now: () => number,
): { execute(operation: string, input: Content): Promise<DynamoDbAnswer> } {
  const reads = createFormulaReads({ population, tables, onCall, now })
  /** Workspaces whose items are in the other DynamoDB, and those that have reservations there. */
  const writtenWorkspaces = new Set<string>()
  const writtenReservations = new Set<string>()

  return {
    async execute(operation, content) {
      const input = content as unknown as ReadInput
      try {
        return {
          statusCode: 200,
          json: (await answerByFormula(operation, input)) ?? (await answer(operation, content)),
        }
      } catch (error) {
        if (!(error instanceof DynamoDbFailure)) throw error
        return { statusCode: error.statusCode, json: JSON.stringify(error.body) }
      }
    },
  }

  /** @returns undefined for what the other DynamoDB has to answer */
  async function answerByFormula(operation: string, input: ReadInput): Promise<string | undefined> {
    const { TableName } = input
    const id = input.Key?.workspace_id?.S
    if (operation === 'GetItem' && TableName === tables.workspaces && id !== undefined && !writtenWorkspaces.has(id)) {
      return reads.getLedger(id, input)
    }
    if (operation === 'GetItem' && TableName === tables.documents) return reads.getDocument(input)
    if (operation === 'Query' && TableName === tables.documents && input.IndexName === undefined) {
      return reads.queryDocuments(input)
    }
    if (operation === 'Query' && TableName === tables.reservations && !writtenReservations.has(idInQuery(input))) {
      return reads.queryNothing(input)
    }
    if (operation === 'Scan' && TableName === tables.workspaces) return reads.scanWorkspaces(input)
    if (operation === 'Scan' && TableName === tables.documents) return reads.scanForWorkspaces(input)
    return undefined
  }

  async function answer(operation: string, content: Content): Promise<string> {
    const input = content as unknown as ReadInput & { Item?: Key }
    const id = (input.Key ?? input.Item)?.workspace_id?.S
    const isWrite = /^(Put|Update|Delete)Item$/.test(operation)
    if (isWrite && id !== undefined && input.TableName === tables.workspaces) await write(id, operation)
    if (isWrite && id !== undefined && input.TableName === tables.reservations) writtenReservations.add(id)
    return JSON.stringify(await written.execute(operation, content))
  }

  /** The first write of an item finds it there. */
  async function write(id: string, operation: string): Promise<void> {
    if (writtenWorkspaces.has(id)) return
    writtenWorkspaces.add(id)
    const Item = operation === 'PutItem' ? undefined : reads.ledgerOf(id)
    if (Item !== undefined) await written.execute('PutItem', { TableName: tables.workspaces, Item })
  }
}
