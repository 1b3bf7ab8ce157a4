import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTestApi, PATH } from '../support/api/test-api.ts'
import { ROOT, read } from './pages.ts'

afterEach(() => vi.restoreAllMocks())

type Api = ReturnType<typeof createTestApi>
type Method = (...args: unknown[]) => Promise<unknown>

/** What is stored of the workspace, as the tables' cells. */
function cells({ ledger, reservations, documents, objects }: Api): string[] {
  const workspace = ledger.workspaces.get('ws_1' as never)
  const markers = [
    ...[...(workspace?.takings.values() ?? [])].map(({ sizeBytes }) => `taking of ${sizeBytes}`),
    ...[...(workspace?.releases.values() ?? [])].map(({ sizeBytes }) => `release of ${sizeBytes}`),
  ]
  const items = [...reservations.items.values()].map(({ purpose, sizeBytes }) =>
    purpose === 'promotion' ? `${purpose}, ${sizeBytes}` : purpose,
  )
  const live = [...documents.documents.values()].map(({ sizeBytes }) => `document, ${sizeBytes}`)
  const tombstones = [...documents.tombstones.values()].map(({ document, releasedBy, expiresAtMs }) =>
    expiresAtMs ? 'tombstone, for a day' : `tombstone, ${document?.sizeBytes}${releasedBy ? ', handed over' : ''}`,
  )
  const all = [
    [workspace?.remainingBytes ?? 1000],
    markers,
    items,
    [...live, ...tombstones],
    objects.documents.size ? ['object'] : [],
  ]
  return all.map((what) => what.join('; ') || '–')
}

/** Does it, and keeps what is stored after each call that changed something, in lines of a table. */
async function linesOf(api: Api, work: () => Promise<{ status: number }>): Promise<string[]> {
  const rows = [['', ...cells(api)]]
  const isUnmarked = Promise.withResolvers<void>()
  for (const port of [api.ledger, api.reservations, api.documents, api.objects]) {
    const methods = port as unknown as Record<string, Method>
    for (const name of Object.keys(methods).filter((each) => typeof methods[each] === 'function')) {
      const original = methods[name]?.bind(port)
      vi.spyOn(methods, name).mockImplementation(async (...args) => {
        // A copy takes longer than what is done beside it.
        if (name === 'copy') await isUnmarked.promise
        const result = await original?.(...args)
        const now = cells(api)
        if (String(now) !== String(rows.at(-1)?.slice(1))) rows.push([name, ...now])
        if (name === 'unmark') isUnmarked.resolve()
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
    const [document_id] = [...api.documents.documents.values()].map(({ documentId }) => documentId as string)
    const deletion = await linesOf(api, () => api.call('delete_document', { parameters: { document_id } }))
    const page = read('docs/reliability.md')
    const [written] = /(?<=### Step by step\n(?:.*\n)*?\| --- .*\n)(\| .*\n)*/.exec(page) ?? ['']
    const table = `${[...promotion, ...deletion].join('\n')}\n`
    await expect(page.replace(written, table)).toMatchFileSnapshot(join(ROOT, 'docs/reliability.md'))
  })
})
