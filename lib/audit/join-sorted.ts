import { compareBytes } from '../object-keys.ts'

/** Walks two ascending sequences. @yields pairs with the same key, and elements that only one side has */
export async function* joinSorted<Left, Right>(
  lefts: AsyncIterable<Left>,
  rights: AsyncIterable<Right>,
  keyOf: { left(left: Left): string; right(right: Right): string },
): AsyncGenerator<{ left?: Left; right?: Right }> {
  const left = lefts[Symbol.asyncIterator]()
  const right = rights[Symbol.asyncIterator]()
  try {
    let [l, r] = await Promise.all([left.next(), right.next()])
    while (!l.done || !r.done) {
      const order = l.done ? 1 : r.done ? -1 : compareBytes(keyOf.left(l.value), keyOf.right(r.value))
      if (order === 0) yield { left: l.value, right: r.value }
      else if (order < 0) yield { left: l.value }
      else yield { right: r.value }
      if (order <= 0) l = await left.next()
      if (order >= 0) r = await right.next()
    }
  } finally {
    await left.return?.()
    await right.return?.()
  }
}
