/**
 * Works on the elements of a sequence in order, several at once: whoever is free takes the next one.
 * @param work should not fail: its first error is thrown once all work under way has ended, and the rest is left out
 * @throws the first error of the sequence or the work
 */
export async function forEachAtOnce<Element>(
  elements: AsyncIterable<Element> | Iterable<Element>,
  atOnce: number,
  work: (element: Element) => Promise<unknown>,
): Promise<void> {
  const rest = toAsync(elements)
  const failures: unknown[] = []
  const workOn = async () => {
    try {
      for (let next = await rest.next(); !next.done && failures.length === 0; next = await rest.next()) {
        await work(next.value)
      }
    } catch (error) {
      failures.push(error)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, workOn))
  if (failures.length > 0) throw failures[0]
}

/** A generator answers parallel requests for its next element one after the other. */
async function* toAsync<Element>(elements: AsyncIterable<Element> | Iterable<Element>): AsyncGenerator<Element> {
  yield* elements
}
