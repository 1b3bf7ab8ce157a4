// The parts of the stand-ins' own modules that infra/local uses; the packages bring no types.

declare module 'dynalite' {
  import type { Server } from 'node:http'
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server
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

declare module '@20minutes/s3rver' {
  import type { RequestListener } from 'node:http'

  export interface Context {
    method: string
    path: string
    query: Record<string, string | undefined>
    headers: Record<string, string | undefined>
    status: number
    body: unknown
  }
  type Middleware = (ctx: Context, next: () => Promise<void>) => Promise<void>

  export interface ListOptions {
    prefix?: string
    startAfter?: string
    delimiter?: string
    maxKeys?: number
  }

  export interface Store {
    rootDirectory: string
    getResourcePath(bucket: string, key: string | undefined, resource: string): string
    getMetadata(bucket: string, key: string): Promise<{ etag: string; 'content-length': number }>
    putMetadata(bucket: string, key: string, metadata: object, md5: string): Promise<void>
    putObjectMultipart(
      bucket: string,
      uploadId: string,
      parts: { number: number }[],
    ): Promise<{ size: number; md5: string }>
    listObjects(bucket: string, options: ListOptions): Promise<{ isTruncated: boolean }>
    deleteObject(bucket: string, key: string): Promise<void>
  }

  export default class S3rver {
    constructor(options: {
      directory: string
      silent: boolean
      allowMismatchedSignatures: boolean
      vhostBuckets: boolean
    })
    middleware: Middleware[]
    store: Store
    callback(): RequestListener
  }
}

declare module '@20minutes/s3rver/lib/stores/filesystem.js' {
  const FilesystemStore: {
    encodeKeyPath(key: string): string
    decodeKeyPath(path: string): string
  }
  export default FilesystemStore
}

declare module '@20minutes/s3rver/lib/models/error.js' {
  export default class S3Error extends Error {
    constructor(code: string, message: string, detail?: object)
  }
}

declare module '@20minutes/s3rver/lib/models/account.js' {
  const account: { DUMMY_ACCOUNT: { createKeyPair(accessKeyId: string, secretAccessKey: string): void } }
  export default account
}

declare module '@20minutes/s3rver/lib/models/object.js' {
  export default class S3Object {
    constructor(bucket: string, key: string, content: null, metadata: object)
  }
}
