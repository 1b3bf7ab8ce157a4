import { containerFiles, downloads, open } from '../lib/aws/stores.ts'
import { createReadContainerFilesHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('read-container-files')

export const handler = createReadContainerFilesHandler({ ...api, ...open({ containerFiles, downloads }, stores) })
