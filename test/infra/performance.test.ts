import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { PERFORMANCE_DOC, readStored, withTable } from '../bench/report.ts'
import { BENCHES } from '../bench/run-benches.ts'

it('docs/performance.md shows what is in docs/bench/results.json, of every bench', async () => {
  const stored = await readStored()
  expect(Object.keys(stored)).toEqual(BENCHES.map(({ name }) => name))
  const page = await readFile(PERFORMANCE_DOC, 'utf8')
  expect(page).toBe(withTable(page, stored))
})
