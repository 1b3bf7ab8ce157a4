import type { StoredObject } from '../../../infra/local/stores/s3-contents.ts'
import { createContainerFileWriter } from '../../../lib/aws/s3/container-file-writer.ts'
import { createContainerFiles } from '../../../lib/aws/s3/container-files.ts'
import { createDocumentObjects } from '../../../lib/aws/s3/document-objects.ts'
import { createDownloadSigner } from '../../../lib/aws/s3/download-signer.ts'
import { createObjectStore } from '../../../lib/aws/s3/object-store.ts'
import { createMemoryS3, memoryS3Client } from '../aws/memory-s3.ts'

const MIB = 1024 * 1024
export const COPY_SETTINGS = { multipartThresholdBytes: 10 * MIB }

/** The adapters of all ports of objects on an S3 in memory, and what is in it. */
export function createMemoryObjects() {
  const { store, contents } = createMemoryS3()
  const [sandbox, documents] = [new Map<string, StoredObject>(), new Map<string, StoredObject>()]
  contents.buckets.set('sandboxes', sandbox).set('documents', documents)
  // A test may stand between.
  const wire = { store }
  const client = memoryS3Client((request) => wire.store(request))
  const settings = { client, sandboxBucket: 'sandboxes', documentsBucket: 'documents', ...COPY_SETTINGS }
  const objects = {
    ...createObjectStore(settings),
    ...createContainerFiles(settings),
    ...createDocumentObjects(settings),
    ...createContainerFileWriter(settings),
    sandbox,
    documents,
    wire,
    uploads: contents.uploads,
  }
  return { objects, downloads: createDownloadSigner(settings) }
}
