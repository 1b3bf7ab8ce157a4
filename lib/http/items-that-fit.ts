/** The items' share of the 6 MB that a function may answer (Lambda quotas); envelope and headers have the rest. */
const MAX_BYTES = 5_400_000

/** The first items, as many as fit into one answer; the next page begins after them. */
export function itemsThatFit<Item>(items: Item[]): Item[] {
  let bytes = 0
  // The body is a string in the function's answer, JSON in JSON: a quotation mark in a name takes four bytes.
  const tooMuch = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(JSON.stringify(item)))
    return bytes > MAX_BYTES
  })
  return tooMuch === -1 ? items : items.slice(0, tooMuch)
}
