// The parts of dynalite's own modules that infra/local uses; the package brings no types.

declare module 'dynalite' {
  import type { Server } from 'node:http'
  import type { AttributeValue } from '@aws-sdk/client-dynamodb'

  type Item = Record<string, AttributeValue> | null | undefined
  export interface Options {
    path?: string | undefined
    createTableMs?: number
    /** Passed on to the store. */
    onWrite?: ((table: string, before: Item, after: Item) => void) | undefined
  }
  export default function dynalite(options: Options): Server
}

declare module 'dynalite/db/index.js' {
  import type { Item, Options } from 'dynalite'

  interface ConditionFailure extends Error {
    body: { __type: string; message: string; Item?: object }
  }
  type IndexEntry = { index: string; key: string; item: object }
  const db: {
    checkConditional(
      request: { ReturnValuesOnConditionCheckFailure?: string },
      existingItem: object | undefined,
    ): ConditionFailure | null | undefined
    /** The entries of an item in indexes. */
    getIndexActions(indexes: object[], existing: null, item: object, table: object): { puts: IndexEntry[] }
    updateIndexes(
      store: { options?: Options },
      table: { TableName: string },
      before: Item,
      after: Item,
      done: (error?: Error) => void,
    ): void
  }
  export default db
}

declare module 'dynalite/validations/*.js' {
  const validation: { types: Record<string, { type: string; enum: string[] }> }
  export default validation
}
