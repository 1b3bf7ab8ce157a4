import { decodeItem } from '../../../lib/aws/dynamodb/document-codec.ts'
import { decodeLedger } from '../../../lib/aws/dynamodb/workspace-codec.ts'
import type { DocumentItem, Stray } from '../../../lib/ledger/ports/documents.ts'
import type { WorkspaceLedger } from '../../../lib/ledger/ports/ledger.ts'
import type { Item } from '../../support/dynamodb/capacity.ts'
import type { Content } from '../../support/dynamodb/dynalite.ts'
import { createLimitedDynamoDb } from '../../support/dynamodb/limited-dynamodb.ts'
import { parseOnce } from '../../support/dynamodb/parse-once.ts'
import type { Spaces } from '../../support/dynamodb/store-as-of.ts'

parseOnce()

export const [WORKSPACES_TABLE, DOCUMENTS_TABLE] = ['workspaces', 'documents']
const key = (name: string, KeyType: 'HASH' | 'RANGE') => ({ AttributeName: name, KeyType })
const TABLES = [
  {
    TableName: WORKSPACES_TABLE,
    KeySchema: [key('workspace_id', 'HASH')],
    AttributeDefinitions: [{ AttributeName: 'workspace_id', AttributeType: 'S' }],
    BillingMode: 'PAY_PER_REQUEST',
  },
  {
    TableName: DOCUMENTS_TABLE,
    KeySchema: [key('workspace_id', 'HASH'), key('document_id', 'RANGE')],
    AttributeDefinitions: ['workspace_id', 'document_id'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S',
    })),
    BillingMode: 'PAY_PER_REQUEST',
  },
]
const UNLIMITED = { writeUnitsPerSecond: 1e9, readUnitsPerSecond: 1e9, burstSeconds: 1 }

/** The contents of the tables, and how the calls ended that were made then. */
export class Contents {
  readonly spaces: Spaces
  readonly text: string
  readonly outcomes = new Map<string, Outcome>()
  #items: (DocumentItem | Stray)[] | undefined
  #ledger: WorkspaceLedger | undefined

  constructor(spaces: Spaces) {
    this.spaces = spaces
    this.text = JSON.stringify([this.#storedLedger, this.stored])
  }

  /** The items of Documents, in the order of their keys. */
  get stored(): Item[] {
    return this.spaces.of(DOCUMENTS_TABLE).list({}, 0)
  }

  get items(): (DocumentItem | Stray)[] {
    this.#items ??= this.stored.flatMap((attributes) => decodeItem(attributes, 0) ?? [])
    return this.#items
  }

  get #storedLedger(): Item | undefined {
    return this.spaces.of(WORKSPACES_TABLE).list({}, 0)[0]
  }

  get ledger(): WorkspaceLedger | undefined {
    this.#ledger ??= this.#storedLedger && decodeLedger(this.#storedLedger)
    return this.#ledger
  }
}

interface Outcome {
  answer?: Content
  failure?: unknown
  after: Contents
}

/**
 * The tables of the service. Most of the calls of a schedule were made by earlier ones, too, when the tables held the same:
 * what became of them is remembered.
 */
export class Tables {
  /** Its time stands still: what is read is always the newest. */
  readonly #dynamoDb = createLimitedDynamoDb({ now: () => 0, staleMs: 0, limits: UNLIMITED })
  readonly #known = new Map<string, Contents>()

  async create(): Promise<Contents> {
    for (const table of TABLES) await this.#dynamoDb.execute('CreateTable', table)
    return this.#contents()
  }

  async execute(before: Contents, operation: string, input: object): Promise<Outcome> {
    const text = JSON.stringify(input)
    const call = `${operation} ${text}`
    const known = before.outcomes.get(call)
    if (known) return known
    this.#dynamoDb.restore(before.spaces)
    const ending = this.#dynamoDb.execute(operation, JSON.parse(text))
    // A write is done before it is answered.
    const after = this.#contents()
    const outcome = await ending.then(
      (answer) => ({ answer, after }),
      (failure: unknown) => ({ failure, after }),
    )
    before.outcomes.set(call, outcome)
    return outcome
  }

  /** The same object for the same contents. */
  #contents(): Contents {
    const contents = new Contents(this.#dynamoDb.snapshot())
    const known = this.#known.get(contents.text) ?? contents
    this.#known.set(known.text, known)
    return known
  }
}
