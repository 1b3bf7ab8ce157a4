import { MAX_RELEASES, MAX_TAKINGS } from '../../lib/aws/dynamodb/ledger-update.ts'
import { createFakeApiKeyStore } from '../support/fakes/api-key-store.ts'
import { createFakeDocumentExpiries } from '../support/fakes/document-expiries.ts'
import { createFakeDocumentListing } from '../support/fakes/document-listing.ts'
import { createFakeDocumentRecords } from '../support/fakes/document-records.ts'
import { createFakeObjectStore } from '../support/fakes/object-store.ts'
import { createFakeQuotaLedger } from '../support/fakes/quota-ledger.ts'
import { createFakeRateLimiter } from '../support/fakes/rate-limiter.ts'
import { createFakeReservations } from '../support/fakes/reservations.ts'
import { LEDGER_SETTINGS, newDocument } from '../support/stores/ledger-values.ts'
import { describeApiKeyAdministration } from './api-key-administration.contract.ts'
import { describeContainerFiles } from './container-files.contract.ts'
import { describeDocumentExpiries } from './document-expiries.contract.ts'
import { describeDocumentListing } from './document-listing.contract.ts'
import { describeDocumentMaintenance } from './document-maintenance.contract.ts'
import { describeDocumentRecords } from './document-records.contract.ts'
import { describeLedgerMaintenance } from './ledger-maintenance.contract.ts'
import { describeObjectStore } from './object-store.contract.ts'
import { describeQuotaLedger } from './quota-ledger.contract.ts'
import { describeRateLimiter } from './rate-limiter.contract.ts'
import { describeReservations } from './reservations.contract.ts'
import { describeShares } from './shares.contract.ts'
import { describeWorkspaceAdministration } from './workspace-administration.contract.ts'

const newLedger = () =>
  createFakeQuotaLedger({ ...LEDGER_SETTINGS, maxTakings: MAX_TAKINGS, maxReleases: MAX_RELEASES })

describeQuotaLedger('in-memory fake', newLedger)
describeLedgerMaintenance('in-memory fake', newLedger)
describeWorkspaceAdministration('in-memory fake', newLedger)
describeShares('the fake of Workspaces', () => {
  const ledger = newLedger()
  return {
    list: (share, signal) => ledger.list(signal, share),
    add: ({ workspaceId }, signal) => ledger.create(workspaceId, 1000, signal),
  }
})
describeShares('the fake of Documents', () => {
  const { listWorkspaces, hasWorkspace, record } = createFakeDocumentRecords()
  return { list: listWorkspaces, has: hasWorkspace, add: (one, signal) => record(newDocument(one), signal) }
})
describeReservations('in-memory fake', createFakeReservations)
describeApiKeyAdministration('in-memory fake', () => {
  const store = createFakeApiKeyStore()
  return { administration: store.administration, store }
})
describeDocumentRecords('in-memory fake', createFakeDocumentRecords)
describeDocumentMaintenance('in-memory fake', createFakeDocumentRecords)
describeDocumentListing('in-memory fake', (now) => {
  const records = createFakeDocumentRecords(now)
  return { records, listing: createFakeDocumentListing(records, now) }
})
describeDocumentExpiries('in-memory fake', (now) => {
  const documents = createFakeDocumentRecords(now)
  const [listing, expiries] = [createFakeDocumentListing(documents, now), createFakeDocumentExpiries(documents, now)]
  return { documents, listing, expiries }
})
describeContainerFiles('in-memory fake', () => {
  const store = createFakeObjectStore()
  return {
    containerFiles: store,
    put: async (key, bytes) => void store.sandbox.set(key, { bytes, contentType: undefined }),
  }
})
describeRateLimiter('in-memory fake', createFakeRateLimiter)
describeObjectStore('in-memory fake', () => {
  const store = createFakeObjectStore()
  return {
    store,
    putSandboxFile: async (key, object) => {
      store.sandbox.set(key, object)
    },
    beginUpload: async (objectKey) => {
      store.uploads.push({ objectKey, startedAtMs: Date.now() })
    },
    readDocument: async (key) => store.documents.get(key),
    documentKeys: async () => [...store.documents.keys()],
  }
})
