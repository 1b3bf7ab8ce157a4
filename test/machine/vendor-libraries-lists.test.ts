import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { newWorkspaceItem } from '../../lib/aws/dynamodb/workspace-item.ts'
import { all, SMALL, useVendorLibraries } from '../support/machine/use-vendor-libraries.ts'

const libraries = useVendorLibraries()
const { service, workspaceId, key, newWorkspace, promote, deletions } = libraries
const { openRouter, openAi, anthropic, anthropicBefore } = libraries

async function listOpenRouter(limit: number): Promise<string[]> {
  const pages = await all(await openRouter().files.list({ limit }))
  return pages.flatMap(({ result }) => (result as { data: { id: string }[] }).data.map(({ id }) => id))
}
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id)

/** Each library's own way to list, a few to a page, and whether it begins with the oldest. */
const LISTS: [string, (limit: number) => Promise<string[]>, 'asc' | 'desc'][] = [
  ['OpenRouter', listOpenRouter, 'asc'],
  ['OpenAI', async (limit) => idsOf(await all(openAi().files.list({ limit }))), 'desc'],
  ['OpenAI, oldest first', async (limit) => idsOf(await all(openAi().files.list({ limit, order: 'asc' }))), 'asc'],
  ['Anthropic', async (limit) => idsOf(await all(anthropic().files.list({ limit }))), 'desc'],
  ['Anthropic, beta', async (limit) => idsOf(await all(anthropic().beta.files.list({ limit }))), 'desc'],
  [
    'Anthropic before its new pagination',
    async (limit) => idsOf(await all(anthropicBefore().beta.files.list({ limit }))),
    'desc',
  ],
]

describe('lists', () => {
  let expected: string[]
  beforeAll(async () => {
    await newWorkspace([SMALL])
    expected = []
    for (let i = 0; i < 11; i++) expected.push((await promote(SMALL.path)).id)
  })

  it.each(LISTS)('of %s turn every page over, in its order', async (_, list, order) => {
    const ids = order === 'asc' ? expected : expected.toReversed()
    for (const limit of [1, 4, 11, 100]) expect(await list(limit)).toEqual(ids)
  })

  it('of Anthropic take ids', async () => {
    const ids = [expected[3], expected[1], 'file_unknown'] as string[]
    expect(idsOf(await all(anthropic().files.list({ ids })))).toEqual([expected[3], expected[1]])
  })

  it('of OpenAI take a purpose', async () => {
    expect(await all(openAi().files.list({ purpose: 'assistants_output' }))).toHaveLength(11)
    expect(await all(openAi().files.list({ purpose: 'batch' }))).toHaveLength(0)
  })
})

describe('deleting what a list shows, while its iterator is still turning pages', () => {
  const lists: Record<string, () => AsyncIterable<{ id: string }>> = {
    OpenAI: () => openAi().files.list({ limit: 2 }),
    Anthropic: () => anthropic().files.list({ limit: 2 }),
    'Anthropic, beta': () => anthropic().beta.files.list({ limit: 2 }),
    'Anthropic before its new pagination': () => anthropicBefore().beta.files.list({ limit: 2 }),
    async *OpenRouter() {
      for await (const { result } of await openRouter().files.list({ limit: 2 })) {
        yield* (result as { data: { id: string }[] }).data
      }
    },
  }

  it.each(deletions)(
    'by %s empties a full workspace, and the next promotion has the room at once',
    async (name, remove) => {
      await newWorkspace([SMALL])
      const Item = marshall(newWorkspaceItem(workspaceId(), 7))
      await service().dynamoDb.send(new PutItemCommand({ TableName: service().demo.workspaces_table, Item }))
      for (let i = 0; i < 7; i++) await promote(SMALL.path)
      await expect(promote(SMALL.path)).rejects.toMatchObject({ statusCode: 403 })
      let deleted = 0
      for await (const { id } of lists[name]?.() ?? expect.fail(name)) {
        await remove(id)
        deleted++
      }
      expect(deleted).toBe(7)
      const left = await fetch(`${service().demo.base_url}/files`, { headers: { authorization: `Bearer ${key()}` } })
      expect([left.headers.get('storage-used-bytes'), await left.json()]).toMatchObject(['0', { data: [] }])
      await promote(SMALL.path)
    },
  )
})
