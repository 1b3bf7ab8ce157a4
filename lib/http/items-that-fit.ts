/** Of the 6 MB that a function may answer (Lambda quotas); the rest is for the envelope and headers. */
const MAX_BYTES = 5_400_000

/** As many of the first items as fit into one answer. A list goes on behind the last of them. */
export function itemsThatFit<Item>(items: Item[]): Item[] {
  let bytes = 0
  // The body is a string in the function's answer, JSON in JSON: a quotation mark in a name takes four bytes.
  const tooMuch = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(JSON.stringify(item)))
    return bytes > MAX_BYTES
  })
  return tooMuch === -1 ? items : items.slice(0, tooMuch)
}
