import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Content } from '../../support/dynamodb/dynalite.ts'
import { CONSISTENT_READS } from '../../support/protocol/consistent-reads.ts'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'

/** Longer than a test: what is read weakly knows nothing of it. */
const STALE_MS = 3_600_000
const LIB = join(import.meta.dirname, '../../../lib')

let process: TestProcess
let restedMs = 0
const rest = () => {
  restedMs += STALE_MS
}
/** Consistent reads that are made weak at the moment. */
let isWeak: (operation: string, input: Content) => boolean

beforeAll(async () => {
  isWeak = () => false
  const stores = await createTestStores({
    now: () => Date.now() + restedMs,
    staleMs: STALE_MS,
    rewrite(operation, input) {
      const { ConsistentRead, ...weaker } = input
      return ConsistentRead && isWeak(operation, input) ? weaker : input
    },
  })
  process = await startTestProcess(stores)
})
afterAll(() => process.stop())

describe('reads that are strongly consistent, where all others show the past', () => {
  it.each(CONSISTENT_READS)('$read: $promise', async ({ check }) => {
    await check(process, (work) => work(), rest)
  })

  it.each(CONSISTENT_READS)('$read: it would be noticed if it was not consistent', async ({ isRead, check }) => {
    const reading = <Result>(work: () => Promise<Result>) => {
      isWeak = isRead
      return work().finally(() => {
        isWeak = () => false
      })
    }
    const checking = check(process, reading, rest)
    await expect(checking).rejects.toThrow()
  })

  it('are all looked at here', async () => {
    const files = (await readdir(LIB, { recursive: true })).filter((file) => file.endsWith('.ts'))
    const sources = await Promise.all(files.map((file) => readFile(join(LIB, file), 'utf8')))
    const count = (pattern: RegExp) => sources.join('').match(pattern)?.length ?? 0
    const [reads, weak] = [count(/\btable\.(get|getAll|scan|pagesOf)\(/g), count(/\bConsistentRead: false\b/g)]
    // Those of table.ts serve all these reads; one more asks for itself.
    const others = count(/\bConsistentRead: true\b/g) - 4
    expect(reads - weak + others).toBe(CONSISTENT_READS.length)
  })
})
