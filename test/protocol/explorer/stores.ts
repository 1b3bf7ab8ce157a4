import { openStores } from '../../../lib/aws/stores.ts'
import { type DocumentId, type WorkspaceId, withoutPrefix } from '../../../lib/ids.ts'
import type { DocumentItem, DueEntry, Stray } from '../../../lib/ledger/ports/documents.ts'
import type { WorkspaceLedger } from '../../../lib/ledger/ports/ledger.ts'
import type { Log } from '../../../lib/logging.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'
import { callNames } from '../../support/aws/name-calls.ts'
import type { Content } from '../../support/dynamodb/dynalite.ts'
import { CONFIG, clientOf, WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { type Contents, Tables } from './tables.ts'

export const LEASE_MS = 120_000
export const WORKSPACE = 'ws_1' as WorkspaceId
const READ = /^(GetItem|Query|Scan)$/
const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }

/** A command of the SDK, as an adapter sends it. */
export interface Sent {
  name: string
  input: Content
}

/** Where the clients of the SDK stand: handles each command, when it is its turn. */
export type Transport = (sent: Sent, command: object, apply: () => Promise<unknown>) => Promise<unknown>

/** The stores, in memory, and one clock: all processes share them. */
export class Stores {
  nowMs = 1_800_000_000_000
  /** By key: the size of a document's object. */
  readonly objects = new Map<string, number>()
  /** By key: the size and ETag of a container's file. */
  readonly files = new Map<string, { sizeBytes: number; etag: string }>()
  readonly #tables: Tables
  #contents: Contents

  constructor(tables = new Tables(), contents = tables.contents()) {
    this.#tables = tables
    this.#contents = contents
  }

  /** The copy has a life of its own. */
  copy(): Stores {
    const stores = new Stores(this.#tables, this.#contents)
    stores.nowMs = this.nowMs
    for (const [key, sizeBytes] of this.objects) stores.objects.set(key, sizeBytes)
    for (const [key, file] of this.files) stores.files.set(key, file)
    return stores
  }

  /** The items of Documents as they are now, in the order of their keys. */
  items(): (DocumentItem | Stray)[] {
    return this.#contents.items
  }

  /** The index of due work, without a delay. */
  entries(): DueEntry[] {
    return this.#contents.stored.flatMap(({ due_shard, due_at, document_id }) => {
      if (due_shard === undefined || due_at === undefined) return []
      return [{ workspaceId: WORKSPACE, itemId: String(document_id?.S), dueAtMs: Number(due_at.N) }]
    })
  }

  ledger(): WorkspaceLedger | undefined {
    return this.#contents.ledger
  }

  /** All that is stored, as texts. */
  texts(): string[] {
    return [this.#contents.text, JSON.stringify([...this.objects]), `${this.nowMs}`]
  }

  /** Puts another refund of the first document into the ledger. */
  async putLateRefund(): Promise<void> {
    const [item] = this.#contents.stored
    const d = item?.document_id?.S && { S: withoutPrefix(item.document_id.S as DocumentId) }
    const refund = { n: { N: '7' }, l: { N: String(this.nowMs + LEASE_MS) }, d, a: item?.attempt_id }
    await this.#execute('UpdateItem', {
      TableName: WORKSPACES_TABLE,
      Key: { workspace_id: { S: WORKSPACE } },
      UpdateExpression: 'SET refunds.#late = :refund',
      ExpressionAttributeNames: { '#late': '2'.repeat(22) },
      ExpressionAttributeValues: { ':refund': { M: refund } },
    })
  }

  /** The service's ports for a process, whose commands go through its transport. */
  dependencies(transport: Transport, { quotaBytes = 100, aheadMs = 0 } = {}) {
    const now = () => this.nowMs + aheadMs
    const client = (apply: (operation: string, input: Content) => Promise<unknown>) =>
      clientOf((operation, given, command) => {
        const name = callNames.get(command) ?? operation
        // Pages of one item: what is read later may have changed since.
        const input = name === 'documents.list' ? { ...given, Limit: 1 } : given
        return transport({ name, input }, command, () => apply(operation, input))
      })
    const dynamoDb = client((operation, input) => this.#execute(operation, input))
    const s3 = client(async (operation, input) => this.#s3(operation, input as never)) as never
    const config = { ...CONFIG, leaseMs: LEASE_MS, defaultQuotaBytes: quotaBytes }
    return {
      ...openStores({ config, dynamoDb, s3, now }),
      admission: createAdmission({ now, random: () => 1 }),
      maxFileBytes: 1e9,
      defaultQuotaBytes: quotaBytes,
      log: SILENT,
    }
  }

  async #execute(operation: string, input: Content): Promise<unknown> {
    const { answer, failure, after } = await this.#tables.execute(this.#contents, operation, input)
    if (!READ.test(operation)) this.#contents = after
    if (failure) throw failure
    return answer
  }

  #s3(
    operation: string,
    input: { Key: string; Prefix?: string; CopySource?: string; IfNoneMatch?: string; CopySourceIfMatch?: string },
  ) {
    const failure = (httpStatusCode: number, name: string) =>
      Object.assign(new Error(name), { name, $metadata: { httpStatusCode } })
    switch (operation) {
      case 'CopyObject': {
        const source = this.files.get(String(input.CopySource).split('/').slice(1).join('/'))
        if (source?.etag !== input.CopySourceIfMatch) throw failure(412, 'PreconditionFailed')
        if (this.objects.has(input.Key)) throw failure(412, 'PreconditionFailed')
        this.objects.set(input.Key, source?.sizeBytes ?? 0)
        return { CopyObjectResult: { ETag: source?.etag } }
      }
      case 'HeadObject': {
        const file = this.files.get(input.Key)
        const sizeBytes = file?.sizeBytes ?? this.objects.get(input.Key)
        if (sizeBytes === undefined) throw failure(404, 'NotFound')
        return {
          ContentLength: sizeBytes,
          ETag: file?.etag ?? '"x"',
          ContentType: 'text/plain',
          LastModified: new Date(0),
        }
      }
      case 'DeleteObject':
        this.objects.delete(input.Key)
        this.files.delete(input.Key)
        return {}
      case 'ListObjectsV2': {
        const keys = [...this.objects.keys()].filter((key) => key.startsWith(input.Prefix ?? '')).toSorted()
        return { Contents: keys.map((Key) => ({ Key, Size: this.objects.get(Key) })) }
      }
      case 'ListObjectVersions': {
        const all = [...this.objects.keys(), ...this.files.keys()]
        return { Versions: all.filter((key) => key.startsWith(input.Prefix ?? '')).map((Key) => ({ Key })) }
      }
      case 'ListMultipartUploads':
        return { Uploads: [] }
      default:
        throw new Error(`the stand-in of S3 has no ${operation}`)
    }
  }
}
