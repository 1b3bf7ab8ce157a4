import { afterEach, expect, it, vi } from 'vitest'
import type { FilePath } from '../../../lib/ids.ts'
import { promoteContainerFiles } from '../../../lib/promotion/promote-container-files.ts'
import { storedObject } from '../../support/aws/memory-s3.ts'
import { createPorts, type Ports, WORKSPACE } from '../../support/ports.ts'

afterEach(() => vi.restoreAllMocks())

async function promoteMany(ports: Ports) {
  const request = {
    ...ports.request(),
    caller: { keyId: 'key', workspaceId: WORKSPACE, kind: 'management', permissions: [], userId: undefined },
    containerId: 'sess_1',
    files: { paths: ['a' as FilePath] },
    after: undefined,
    rateLimitPassed: Promise.resolve(),
    countMore: async () => 0,
  } as const
  const { listed } = await promoteContainerFiles(request, { ...ports.deps, containerFiles: ports.objects } as never)
  return listed.map(({ outcome, error }) => [outcome, error?.reason])
}

it('of two requests for the same file, with room for one, the second keeps what the first has made meanwhile', async () => {
  const ports = createPorts({ defaultQuotaBytes: 100 })
  ports.objects.sandbox.set(`sandboxes/${WORKSPACE}/sess_1/a`, storedObject({ bytes: Buffer.alloc(100) }))
  const { findAll } = ports.documents
  vi.spyOn(ports.deps.documents, 'findAll').mockImplementationOnce(async (...args) => {
    const found = await findAll(...args)
    expect(await promoteMany(ports)).toEqual([['promoted', undefined]])
    return found
  })
  expect(await promoteMany(ports)).toEqual([['kept', undefined]])
})
