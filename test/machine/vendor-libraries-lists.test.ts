import { beforeAll, describe, expect, it } from 'vitest'
import { all, SMALL, useVendorLibraries } from '../support/machine/use-vendor-libraries.ts'

const { service, workspaceId, key, newWorkspace, promote, libraries, openAi, anthropic } = useVendorLibraries()
const idsOf = async (items: AsyncIterable<{ id: string }>) => (await all(items)).map(({ id }) => id)

describe('lists', () => {
  let expected: string[]
  beforeAll(async () => {
    await newWorkspace([SMALL])
    expected = []
    for (let i = 0; i < 11; i++) expected.push((await promote(SMALL.path)).id)
  })

  const oldestFirst = (limit?: number) => openAi().files.list({ limit: limit ?? 1, order: 'asc' })
  it.each([...libraries, { name: 'OpenAI, oldest first', list: oldestFirst, order: 'asc' }])(
    'of $name turn every page over, in its order',
    async ({ list, order }) => {
      const ids = order === 'asc' ? expected : expected.toReversed()
      for (const limit of [1, 4, 11, 100]) expect(await idsOf(list(limit))).toEqual(ids)
    },
  )

  it('of Anthropic take ids', async () => {
    const ids = [expected[3], expected[1], 'file_unknown'] as string[]
    expect(await idsOf(anthropic().files.list({ ids }))).toEqual([expected[3], expected[1]])
  })

  it('of OpenAI take a purpose', async () => {
    expect(await all(openAi().files.list({ purpose: 'assistants_output' }))).toHaveLength(11)
    expect(await all(openAi().files.list({ purpose: 'batch' }))).toHaveLength(0)
  })
})

it.each(libraries)(
  'deleting what a list shows, while $name still turns its pages, empties a full workspace: there is room at once',
  async ({ list, remove }) => {
    await newWorkspace([SMALL])
    await service().admin('workspaces', 'create', workspaceId(), '--quota', '7B')
    for (let i = 0; i < 7; i++) await promote(SMALL.path)
    await expect(promote(SMALL.path)).rejects.toMatchObject({ statusCode: 403 })
    let deleted = 0
    for await (const { id } of list(2)) {
      await remove(id)
      deleted++
    }
    expect(deleted).toBe(7)
    const left = await fetch(`${service().demo.base_url}/files`, { headers: { authorization: `Bearer ${key()}` } })
    expect([left.headers.get('storage-used-bytes'), await left.json()]).toMatchObject(['0', { data: [] }])
    await promote(SMALL.path)
  },
)
