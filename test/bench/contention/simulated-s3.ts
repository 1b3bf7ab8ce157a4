import type { ContainerFileWriter } from '../../../lib/containers/container-files.ts'
import type { DocumentObjects } from '../../../lib/documents/download-document.ts'
import type { ObjectStore } from '../../../lib/promotion/ports/object-store.ts'

interface SimulatedS3 {
  /** How long a copy takes. */
  copySeconds: number
  /** The size of each file. */
  sizeBytes: number
  /** ms of a request that is not a copy. */
  latencyMs(): number
  onCall?(name: 'HeadObject' | 'CopyObject'): void
}

export type Simulated = ObjectStore & DocumentObjects & ContainerFileWriter
/** Into this container files are put back. */
export const NEXT = 'sess_next'

/** Every file is there, but in the next container, and a copy takes its time. */
export function createSimulatedS3({ copySeconds, sizeBytes, latencyMs, onCall }: SimulatedS3): Simulated {
  const wait = (delayMs: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      setTimeout(resolve, delayMs)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  return {
    async findContainerFile(objectKey, signal) {
      onCall?.('HeadObject')
      await wait(latencyMs(), signal)
      if (objectKey.includes(`/${NEXT}/`)) return undefined
      return {
        objectKey,
        sizeBytes,
        etag: '"etag"',
        contentType: 'text/plain',
        contentEncoding: undefined,
        contentLanguage: undefined,
        isArchived: false,
        modifiedAt: new Date(),
      }
    },
    hasContainer: async () => true,
    readStart: async () => new Uint8Array(),
    copiesWhole: () => true,
    async copy(_, signal) {
      onCall?.('CopyObject')
      await wait(copySeconds * 1000, signal)
      return { sha256: '0'.repeat(64) }
    },
    discard: (_, signal) => wait(latencyMs(), signal),
    async findDocumentObject(_, signal) {
      onCall?.('HeadObject')
      await wait(latencyMs(), signal)
      return { isArchived: false, etag: '"object"' }
    },
    async write(_, { deadline }) {
      onCall?.('CopyObject')
      await wait(copySeconds * 1000, deadline.signal)
      return { etag: '"object"', modifiedAt: new Date() }
    },
  }
}
