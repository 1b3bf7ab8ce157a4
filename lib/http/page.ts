import type { Log } from '../logging.ts'

/**
 * The body of an answer with a page of a list. What cannot be read is logged and told by its id: it must not hide the
 * others. @param items are read no further than one after the page
 */
export async function describePage<Item extends object>(
  items: AsyncIterable<Item | { id: string; error: unknown }>,
  { limit, idOf, describe, log }: { limit: number; idOf(item: Item): string; describe(item: Item): object; log: Log },
) {
  const data: object[] = []
  const unreadable: string[] = []
  let cursor: string | null = null
  for await (const item of items) {
    if (data.length + unreadable.length === limit) return { data, has_more: true, cursor, unreadable }
    if ('error' in item) {
      unreadable.push(item.id)
      log.error('listed, but not readable', { item_id: item.id, error: item.error })
    } else data.push(describe(item))
    cursor = 'error' in item ? item.id : idOf(item)
  }
  return { data, has_more: false, cursor: null, unreadable }
}
