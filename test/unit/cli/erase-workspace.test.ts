import { expect, it } from 'vitest'
import { deleteWorkspaceFor } from '../../../infra/cli/commands/delete-workspace.ts'
import type { StoredObject } from '../../../infra/local/stores/s3-contents.ts'
import { createMemoryS3, memoryS3Client, storedObject } from '../../support/aws/memory-s3.ts'
import { afterNext } from '../../support/beside.ts'
import { CONFIG } from '../../support/dynamodb/memory-tables.ts'
import { createPorts, LEASE_MS, WORKSPACE } from '../../support/ports.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

const { signal } = new AbortController()
const time = skipWaits()

it('sweeps what earlier requests still write while it waits, but nothing that is made once the ledger is gone', async () => {
  const ports = createPorts()
  const { store, contents } = createMemoryS3()
  const documents = new Map<string, StoredObject>()
  contents.buckets.set('sandboxes', new Map()).set('documents', documents)
  const put = (objectKey: string) =>
    documents.set(objectKey, { ...storedObject({ bytes: Buffer.alloc(100) }), modifiedAtMs: ports.clock.nowMs })
  const makeDocument = async () => {
    const { objectKey } = await ports.addDocument()
    put(objectKey)
    return objectKey
  }
  await makeDocument()
  time.beforePause = () => {
    put(`documents/${WORKSPACE}/late/copy`)
    ports.pass(LEASE_MS)
  }
  let since = ''
  afterNext(ports.deps.workspaces, 'remove', async () => {
    since = await makeDocument()
    ports.pass(1000)
  })
  const apiKeys = { list: async function* () {}, removeAll: async () => 0 }
  const config = { ...CONFIG, leaseMs: LEASE_MS }
  const stores = { ...ports.deps, apiKeys, config, leaseMs: LEASE_MS, s3: memoryS3Client(store) }
  const output = { done() {}, progress() {} }
  const session = { output, place: 'a test', signal, stores: async () => stores, target: { yes: true } } as never
  const erasing = deleteWorkspaceFor(session, WORKSPACE, { empty: true, erase: true })
  await expect(erasing).rejects.toMatchObject({
    reason: 'not_erased',
    message: expect.stringContaining('a new workspace'),
  })
  expect([...documents.keys()]).toEqual([since])
  expect(time.pausesMs).toEqual([LEASE_MS])
})
