import { afterEach, beforeEach, expect } from 'vitest'
import type { ObjectMaintenance } from '../../../lib/audit/ports/object-maintenance.ts'
import type { ContainerFile } from '../../../lib/containers/container-files.ts'
import { newAttemptId } from '../../../lib/ids.ts'
import type { ObjectStore } from '../../../lib/promotion/ports/object-store.ts'
import type { TestObject } from '../aws/memory-s3.ts'

const MIB = 1024 * 1024
export const COPY_SETTINGS = { multipartThresholdBytes: 10 * MIB, minPartBytes: 5 * MIB }
const { signal } = new AbortController()

export interface ObjectStoreHarness {
  store: ObjectStore & ObjectMaintenance
  /** Begins an upload of this document key and leaves it. */
  beginUpload(key: string): Promise<void>
  putSandboxFile(key: string, object: TestObject): Promise<void>
  readDocument(key: string): Promise<TestObject | undefined>
  /** Keys of objects and of unfinished uploads. */
  documentKeys(): Promise<string[]>
}

/** An object store and the prefix of a container, new for each test. No test may leave an unfinished upload. */
export function useObjectStore(make: () => ObjectStoreHarness) {
  const on = {} as { harness: ObjectStoreHarness; prefix: string }
  beforeEach(() => void Object.assign(on, { harness: make(), prefix: `sandboxes/ws_1/${newAttemptId()}/` }))

  const put = async (path: string, object: Partial<TestObject> = {}): Promise<ContainerFile> => {
    await on.harness.putSandboxFile(on.prefix + path, {
      bytes: Buffer.from('content'),
      contentType: 'text/plain',
      ...object,
    })
    const found = await on.harness.store.findContainerFile(on.prefix + path, signal)
    if (!found) throw new Error(`${on.prefix}${path} was stored but not found`)
    return found
  }
  const newTarget = () => `documents/ws_1/${newAttemptId()}/${newAttemptId()}`
  const copyTo = (source: ContainerFile, objectKey: string, mimeType = 'text/plain') =>
    on.harness.store.copy({ source, objectKey, mimeType }, signal)
  const copy = async (source: ContainerFile, mimeType = 'text/plain') => {
    const objectKey = newTarget()
    await copyTo(source, objectKey, mimeType)
    return on.harness.readDocument(objectKey)
  }

  afterEach(async () => {
    expect((await on.harness.documentKeys()).filter((key) => key.startsWith('unfinished:'))).toEqual([])
  })

  return Object.assign(on, { put, newTarget, copyTo, copy })
}

export type ObjectStoreOfTest = ReturnType<typeof useObjectStore>
