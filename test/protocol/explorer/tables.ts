import { decodeItem } from '../../../lib/aws/dynamodb/document-codec.ts'
import { decodeLedger } from '../../../lib/aws/dynamodb/workspace-codec.ts'
import type { DocumentItem, Stray } from '../../../lib/ledger/ports/documents.ts'
import type { WorkspaceLedger } from '../../../lib/ledger/ports/ledger.ts'
import type { Item } from '../../support/dynamodb/capacity.ts'
import type { Content } from '../../support/dynamodb/dynalite.ts'
import {
  createMemoryTables,
  DOCUMENTS_TABLE,
  executeAsSdk,
  WORKSPACES_TABLE,
} from '../../support/dynamodb/memory-tables.ts'
import type { Spaces } from '../../support/dynamodb/store-as-of.ts'

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
    this.#items ??= this.stored.map(decodeItem)
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
  readonly #dynamoDb = createMemoryTables({ now: () => 0 }).tables
  readonly #known = new Map<string, Contents>()

  async execute(before: Contents, operation: string, input: Content): Promise<Outcome> {
    const call = `${operation} ${JSON.stringify(input)}`
    const known = before.outcomes.get(call)
    if (known) return known
    this.#dynamoDb.restore(before.spaces)
    const ending = executeAsSdk(this.#dynamoDb, operation, input)
    // A write is done before it is answered.
    const after = this.contents()
    const outcome = await ending.then(
      (answer) => ({ answer, after }),
      (failure: unknown) => ({ failure, after }),
    )
    before.outcomes.set(call, outcome)
    return outcome
  }

  /** The same object for the same contents. */
  contents(): Contents {
    const contents = new Contents(this.#dynamoDb.snapshot())
    const known = this.#known.get(contents.text) ?? contents
    this.#known.set(known.text, known)
    return known
  }
}
