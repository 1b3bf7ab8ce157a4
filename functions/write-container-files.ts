import { containerFiles, containerFileWriter, documentObjects, documents } from '../lib/aws/stores.ts'
import { createWriteContainerFilesHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('write-container-files')

export const handler = createWriteContainerFilesHandler({
  ...api,
  containerFiles: containerFiles(stores),
  containerFileWriter: containerFileWriter(stores),
  documentObjects: documentObjects(stores),
  documents: documents(stores),
})
