import { createDocuments } from '../lib/aws/dynamodb/documents.ts'
import { createLedger } from '../lib/aws/dynamodb/ledger.ts'
import { createContainerFiles } from '../lib/aws/s3/container-files.ts'
import { createObjectStore } from '../lib/aws/s3/object-store.ts'
import { createPromoteContainerFileHandler } from '../lib/http/promotion-handler.ts'
import { createAdmission } from '../lib/promotion/admission.ts'
import { wireApi } from './wiring/wire.ts'

const { api, documentsTable, workspacesTable, buckets } = wireApi('promote-container-file')

export const handler = createPromoteContainerFileHandler({
  ...api,
  ledger: createLedger(workspacesTable),
  documents: createDocuments(documentsTable),
  objects: createObjectStore(buckets),
  containerFiles: createContainerFiles(buckets),
  admission: createAdmission(api),
})
