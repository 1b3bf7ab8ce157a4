/** The first items, and whether there are more. @param items are read no further than that */
export async function pageOf<Item>(items: AsyncIterable<Item>, limit: number) {
  const page: Item[] = []
  for await (const item of items) {
    if (page.length === limit) return { page, hasMore: true }
    page.push(item)
  }
  return { page, hasMore: false }
}
