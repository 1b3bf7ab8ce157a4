import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTestApi, PATH } from '../support/api/test-api.ts'
import { ROOT, read } from './pages.ts'

afterEach(() => vi.restoreAllMocks())

type Api = ReturnType<typeof createTestApi>
type Method = (...args: unknown[]) => Promise<unknown>

/** What is stored of the workspace, as the table's cells. */
function cells({ stored, objects }: Api): string[] {
  const { quotaBytes = 1000, usedBytes = 0, takings = [], releases = [] } = stored.ledgerOf('ws_1') ?? {}
  const markers = [
    ...takings.map(({ sizeBytes }) => `taking of ${sizeBytes}`),
    ...releases.map(({ sizeBytes }) => `release of ${sizeBytes}`),
  ]
  const items = stored.items().map((item) => {
    if (item.state === 'pending' || item.state === 'stray') return item.state
    const isHandedOver = item.state === 'deleting' && item.releasedBy !== undefined
    const more = isHandedOver ? ', handed over' : item.state === 'gone' ? ', for a day' : ''
    return `${item.state}, ${item.sizeBytes}${more}`
  })
  const all = [[quotaBytes - usedBytes], markers, items, objects.documents.size ? ['object'] : []]
  return all.map((what) => what.join('; ') || '–')
}

/** Does it, and keeps what is stored after each call that changed something, in lines of a table. */
async function linesOf(api: Api, work: () => Promise<{ status: number }>): Promise<string[]> {
  const rows = [['', ...cells(api)]]
  const isGivenBack = Promise.withResolvers<void>()
  for (const port of [api.ledger, api.documents, api.objects]) {
    const methods = port as unknown as Record<string, Method>
    for (const name of Object.keys(methods).filter((each) => typeof methods[each] === 'function')) {
      const original = methods[name]?.bind(port)
      vi.spyOn(methods, name).mockImplementation(async (...args) => {
        // To discard an object takes longer than what is done beside it.
        if (name === 'discard') await isGivenBack.promise
        const result = await original?.(...args)
        const now = cells(api)
        if (String(now) !== String(rows.at(-1)?.slice(1))) rows.push([name, ...now])
        if (name === 'giveBack') isGivenBack.resolve()
        return result
      })
    }
  }
  expect((await work()).status).toBe(200)
  vi.restoreAllMocks()
  return rows.slice(1).map((row) => `| ${row.join(' | ')} |`)
}

describe('docs/reliability.md shows what is stored after each step', () => {
  it('of a promotion, and of the deletion of its document; -u writes it', async () => {
    const api = createTestApi()
    api.putFile(PATH, Buffer.alloc(100), 'text/csv')
    const promotion = await linesOf(api, () => api.promote({ headers: { 'Idempotency-Key': 'a' } }))
    const [{ documentId: document_id } = {}] = api.stored.documents()
    const parameters = { document_id: String(document_id) }
    const deletion = await linesOf(api, () => api.call('delete_document', { parameters }))
    const page = read('docs/reliability.md')
    const [written] = /(?<=### Step by step\n(?:.*\n)*?\| --- .*\n)(\| .*\n)*/.exec(page) ?? ['']
    const table = `${[...promotion, ...deletion].join('\n')}\n`
    await expect(page.replace(written, table)).toMatchFileSnapshot(join(ROOT, 'docs/reliability.md'))
  })
})
