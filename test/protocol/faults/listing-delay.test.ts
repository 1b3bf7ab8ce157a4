import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'

/** How far the index is behind the table here. */
const DELAY_MS = 1000

let nowMs = Date.parse('2026-11-21T09:38:35.556Z')
let process: TestProcess
let workspace: TestWorkspace

beforeAll(async () => {
  process = await startTestProcess(await createTestStores({ now: () => nowMs, staleMs: DELAY_MS }))
})
afterAll(() => process.stop())
beforeEach(async () => {
  workspace = await process.newWorkspace()
  await process.putFile(workspace, 'a.txt', Buffer.from('a file'))
})

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
}

describe('a list, over an index that is a second behind', () => {
  it('shows what was recorded that long before it began; the document itself is shown at once', async () => {
    const id = await promote()
    expect((await call('retrieve_document', id)).status).toBe(200)
    pass(DELAY_MS - 1)
    expect((await page()).ids).toEqual([])
    pass(1)
    expect((await page()).ids).toEqual([id])
  })

  it('shows nothing that was deleted that long before it began; the document itself is gone at once', async () => {
    const id = await promote()
    pass(DELAY_MS)
    expect((await call('delete_document', id)).status).toBe(200)
    expect((await call('retrieve_document', id)).status).toBe(404)
    pass(DELAY_MS - 1)
    expect((await page()).ids).toEqual([id])
    pass(1)
    expect((await page()).ids).toEqual([])
  })

  it('goes through all that is there from before it begins until it ends, once each, beside promotions and deletions', async () => {
    const first: string[] = []
    for (let i = 0; i < 8; i++) first.push(await promote())
    const [deletedBefore = '', deletedMeanwhile = '', ...staying] = first
    await call('delete_document', deletedBefore)
    pass(DELAY_MS)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const each = await page({ limit: '2', ...(cursor && { cursor }) })
      seen.push(...each.ids)
      cursor = each.cursor
      if (cursor) expect(each.ids).toHaveLength(2)
      await promote()
      await call('delete_document', deletedMeanwhile)
      pass(DELAY_MS / 2)
    } while (cursor !== null && seen.length < 30)
    expect(seen).not.toContain(deletedBefore)
    expect(seen.filter((id) => first.includes(id) && id !== deletedMeanwhile)).toEqual(staying)
    expect(new Set(seen).size).toBe(seen.length)
  })
})
