import { containerFiles, containerFileWriter, documentObjects, documents, open } from '../lib/aws/stores.ts'
import { createWriteContainerFilesHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('write-container-files')

export const handler = createWriteContainerFilesHandler({
  ...api,
  ...open({ containerFiles, containerFileWriter, documentObjects, documents }, stores),
})
