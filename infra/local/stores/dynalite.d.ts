// The parts of dynalite's own modules that infra/local uses; the package brings no types.

declare module 'dynalite' {
  import type { Server } from 'node:http'
  export default function dynalite(options: { path?: string | undefined; createTableMs?: number }): Server
}

declare module 'dynalite/db/index.js' {
  interface ConditionFailure extends Error {
    body: { __type: string; message: string; Item?: object }
  }
  const db: {
    checkConditional(
      request: { ReturnValuesOnConditionCheckFailure?: string },
      existingItem: object | undefined,
    ): ConditionFailure | null | undefined
  }
  export default db
}

declare module 'dynalite/validations/*.js' {
  const validation: { types: Record<string, { type: string; enum: string[] }> }
  export default validation
}
