// The parts of dynalite's own modules that infra/local uses; the package brings no types.

declare module 'dynalite' {
  import type { Server } from 'node:http'
  export default function dynalite(options: { path?: string | undefined; createTableMs?: number }): Server
}

declare module 'dynalite/db/index.js' {
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
    updateIndexes(store: object, table: object, existing: object, item: object, done: () => void): void
  }
  export default db
}

declare module 'dynalite/validations/*.js' {
  const validation: { types: Record<string, { type: string; enum: string[] }> }
  export default validation
}
