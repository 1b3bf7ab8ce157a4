// The parts of dynalite's own modules that infra/local uses; the package brings no types.

declare module 'dynalite' {
  import type { Server } from 'node:http'
  import type { AttributeValue } from '@aws-sdk/client-dynamodb'

  type Item = Record<string, AttributeValue> | null | undefined
  type OnWrite = (table: string, before: Item, after: Item) => void
  /** onWrite is passed on to the store. */
  export type Options = { path?: string | undefined; createTableMs?: number; onWrite?: OnWrite | undefined }
  export default function dynalite(options: Options): Server
}

declare module 'dynalite/db/index.js' {
  import type { Item, Options } from 'dynalite'

  type Failure = Error & { body: { __type: string; message: string; Item?: object } }
  type Request = { ReturnValuesOnConditionCheckFailure?: string }
  type Store = { options?: Options }
  type Done = (error?: Error) => void
  type Puts = { puts: { index: string; key: string; item: object }[] }
  const db: {
    checkConditional(request: Request, existingItem: object | undefined): Failure | null | undefined
    /** The entries of an item in indexes. */
    getIndexActions(indexes: object[], existing: null, item: object, table: object): Puts
    updateIndexes(store: Store, table: { TableName: string }, before: Item, after: Item, done: Done): void
  }
  export default db
}

declare module 'dynalite/validations/*.js' {
  const validation: { types: Record<string, { type: string; enum: string[] }> }
  export default validation
}
