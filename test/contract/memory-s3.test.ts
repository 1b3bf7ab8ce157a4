import { beforeAll } from 'vitest'
import { createTestStores, type TestStores } from '../support/faults/test-stores.ts'
import { describeContainerFiles } from './container-files.contract.ts'
import { describeObjectStore } from './object-store.contract.ts'
import { containerFilesOn, objectStoreOn } from './s3-harnesses.ts'

/** The S3 that suites with faults run on does what the embedded one of npm start does. */
let stores: TestStores
beforeAll(async () => {
  stores = await createTestStores()
})

describeContainerFiles('S3 in memory', () => containerFilesOn(stores))
describeObjectStore('S3 in memory', () => objectStoreOn(stores))
