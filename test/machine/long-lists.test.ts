import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { toUpdate } from '../../lib/aws/dynamodb/document-item.ts'
import { type FilePath, formatFileId } from '../../lib/ids.ts'
import { all, useVendorLibraries } from '../support/machine/use-vendor-libraries.ts'
import { newAttempt, newDocument } from '../support/stores/ledger-values.ts'

const DOCUMENTS = 2500
const OTHERS = 50
const FILES = 1001
const BATCH = 25

const { service, workspaceId, newWorkspace, libraries, openRouter, openAi } = useVendorLibraries()
let expected: string[]
beforeAll(async () => {
  await newWorkspace([])
  expected = await recordDocuments()
  await service().putFile(workspaceId(), 'sess_1', 'a.txt', Buffer.from('a'))
}, 180_000)

/** As a promotion records them, but many at once: every third at the moment of the one before. */
async function recordDocuments(): Promise<string[]> {
  const ids: string[] = []
  const startMs = Date.now() - 86_400_000
  for (let first = 0; first < DOCUMENTS; first += BATCH) {
    const requests = Array.from({ length: BATCH }, (_, index) => {
      const attempt = newAttempt({ workspaceId: workspaceId(), sizeBytes: 1 })
      ids.push(attempt.documentId)
      const filename = `отчёт-${first + index}.txt` as FilePath
      const createdAt = new Date(startMs + Math.floor((first + index) / 3) * 10)
      const { keys, values } = toUpdate({ ...newDocument(attempt), filename, createdAt })
      const attributes = Object.entries(values).map(([name, value]) => [name.slice(1), value])
      return { PutRequest: { Item: marshall({ ...keys, ...Object.fromEntries(attributes) }) } }
    })
    await service().dynamoDb.send(
      new BatchWriteItemCommand({ RequestItems: { [service().demo.documents_table]: requests } }),
    )
  }
  return ids
}

async function collect(items: AsyncIterable<{ id: string }>): Promise<string[]> {
  return (await all(items)).map(({ id }) => id)
}

/** Of a page: the largest, or the library's own. */
const LIMITS: Record<string, number | undefined> = { OpenRouter: 500, OpenAI: undefined }

describe(`a workspace of ${DOCUMENTS} documents`, () => {
  it.each(libraries)(
    `shows every one exactly once through the iterator of $name, while ${OTHERS} others come and go`,
    { timeout: 180_000 },
    async ({ name, list }) => {
      const others = new Set<string>()
      const limit = name in LIMITS ? LIMITS[name] : 100
      const [listed] = await Promise.all([collect(list(limit)), comeAndGo(others)])
      const kept = listed.filter((id) => !others.has(id))
      expect(new Set(listed).size).toBe(listed.length)
      expect(kept.toSorted()).toEqual(expected.toSorted())
    },
  )
})

async function comeAndGo(others: Set<string>): Promise<void> {
  const headers = { authorization: `Bearer ${await service().newKey(workspaceId())}` }
  const url = `${service().demo.base_url}/containers/sess_1/files/${formatFileId('a.txt')}/promote`
  for (let i = 0; i < OTHERS; i++) {
    const promoted = await fetch(url, { method: 'POST', headers })
    if (promoted.status === 429) continue
    const { id } = (await promoted.json()) as { id: string }
    others.add(id)
    await fetch(`${service().demo.base_url}/files/${id}`, { method: 'DELETE', headers })
  }
}

describe(`a container of ${FILES} files, beside odd objects`, () => {
  const paths = Array.from({ length: FILES }, (_, i) => `dir-${i % 7}/файл ${i} + 100%.txt`)
  beforeAll(async () => {
    const odd = ['dir-0/', 'dir-3/', 'zzz/', 'tab\there', 'line\nbreak', 'a//b', 'x/../y']
    const all = [...paths, ...odd]
    for (let first = 0; first < all.length; first += BATCH) {
      const batch = all.slice(first, first + BATCH)
      await Promise.all(batch.map((path) => service().putFile(workspaceId(), 'sess_many', path, Buffer.from('x'))))
    }
  }, 120_000)

  it('shows every file exactly once through the iterator of OpenAI', { timeout: 120_000 }, async () => {
    const ids = await collect(openAi().containers.files.list('sess_many', { limit: 100 }))
    expect(ids.toSorted()).toEqual(paths.map(formatFileId).toSorted())
  })

  it('shows every file exactly once to OpenRouter, page by page', { timeout: 120_000 }, async () => {
    const ids: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await openRouter().containers.listContainerFiles({
        containerId: 'sess_many',
        ...(after && { after }),
      })
      ids.push(...page.data.map(({ id }) => id))
      expect(page.data.length === 100 || !page.hasMore).toBe(true)
      if (!page.hasMore) break
      after = page.lastId ?? undefined
    }
    expect(ids.toSorted()).toEqual(paths.map(formatFileId).toSorted())
  })
})
