import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'

const START_MS = Date.parse('2026-11-21T09:38:35.556Z')
const HOUR_MS = 3_600_000

let nowMs = START_MS
let process: TestProcess
let workspace: TestWorkspace

async function promote(): Promise<string> {
  const { status, body } = await process.promote(workspace, 'a.txt')
  expect(status).toBe(200)
  return (body as { id: string }).id
}

const call = (name: 'retrieve_document' | 'delete_document', document_id: string) =>
  process.call(name, workspace, { parameters: { document_id } })

async function page(query: Record<string, string> = {}) {
  const { status, body } = await process.call('list_documents', workspace, { query })
  expect(status).toBe(200)
  const { data, cursor } = body as { data: { id: string }[]; cursor: string | null }
  return { ids: data.map(({ id }) => id), cursor }
}

const pass = (ms: number) => {
  nowMs += ms
  process.setClock(nowMs - START_MS)
}

describe.each([1000, HOUR_MS])('over indexes that are %i ms behind, a list', (delayMs) => {
  beforeAll(async () => {
    process = await startTestProcess(await createTestStores({ now: () => nowMs, staleMs: delayMs }))
    process.stopClock(START_MS)
  })
  afterAll(() => process.stop())
  beforeEach(async () => {
    pass(0)
    workspace = await process.newWorkspace()
    await process.putFile(workspace, 'a.txt', Buffer.from('a file'))
  })

  it('shows what was recorded that long before it began; the document itself is shown at once', async () => {
    const id = await promote()
    expect((await call('retrieve_document', id)).status).toBe(200)
    pass(delayMs - 1)
    expect((await page()).ids).toEqual([])
    pass(1)
    expect((await page()).ids).toEqual([id])
  })

  it('shows nothing that was deleted that long before it began; the document itself is gone at once', async () => {
    const id = await promote()
    pass(delayMs)
    expect((await call('delete_document', id)).status).toBe(200)
    expect((await call('retrieve_document', id)).status).toBe(404)
    pass(delayMs - 1)
    expect((await page()).ids).toEqual([id])
    pass(1)
    expect((await page()).ids).toEqual([])
  })

  it('goes through all that is there from before it begins until it ends, once each, beside promotions and deletions', async () => {
    const first: string[] = []
    for (let i = 0; i < 8; i++) first.push(await promote())
    const [deletedBefore = '', deletedMeanwhile = '', ...staying] = first
    await call('delete_document', deletedBefore)
    pass(delayMs)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const each = await page({ limit: '2', ...(cursor && { cursor }) })
      seen.push(...each.ids)
      cursor = each.cursor
      if (cursor) expect(each.ids).toHaveLength(2)
      await promote()
      await call('delete_document', deletedMeanwhile)
      pass(delayMs / 2)
    } while (cursor !== null && seen.length < 30)
    expect(seen).not.toContain(deletedBefore)
    expect(seen.filter((id) => first.includes(id) && id !== deletedMeanwhile)).toEqual(staying)
    expect(new Set(seen).size).toBe(seen.length)
  })
})
