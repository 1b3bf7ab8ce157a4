import { createContainerFiles } from '../lib/aws/s3/container-files.ts'
import { createDownloadSigner } from '../lib/aws/s3/download-signer.ts'
import { createReadContainerFilesHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, buckets } = wireApi('read-container-files')

export const handler = createReadContainerFilesHandler({
  ...api,
  containerFiles: createContainerFiles(buckets),
  downloads: createDownloadSigner(buckets),
})
