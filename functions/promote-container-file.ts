import { containerFiles, documents, ledger, objects, open } from '../lib/aws/stores.ts'
import { createPromoteContainerFileHandler } from '../lib/http/promotion-handler.ts'
import { createAdmission } from '../lib/promotion/admission.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('promote-container-file')

export const handler = createPromoteContainerFileHandler({
  ...api,
  ...open({ ledger, documents, objects, containerFiles }, stores),
  admission: createAdmission(api),
})
