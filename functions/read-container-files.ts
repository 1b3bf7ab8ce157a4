import { createContainerFiles } from '../lib/aws/container-files.ts'
import { createDownloadSigner } from '../lib/aws/download-signer.ts'
import { createReadContainerFilesHandler } from '../lib/http/read-container-files.ts'
import { wireApi } from './wiring/wire-api.ts'

const { api, buckets, objectKeys } = wireApi('read-container-files')

export const handler = createReadContainerFilesHandler({
  ...api,
  containerFiles: createContainerFiles(buckets),
  downloads: createDownloadSigner(buckets),
  objectKeys,
})
