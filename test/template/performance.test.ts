import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { BENCHES } from '../bench/benches.ts'
import { PERFORMANCE_DOC, readStored, withFigures } from '../bench/report.ts'
import { tableRows } from '../pages/pages.ts'

it('docs/performance.md shows figures as docs/bench/results.json has them, which has those of every bench', async () => {
  const stored = await readStored()
  expect(Object.keys(stored)).toEqual(BENCHES.map(({ name }) => name))
  const page = await readFile(PERFORMANCE_DOC, 'utf8')
  expect(page).toBe(withFigures(page, stored))
})

it('docs/performance.md shows no figure that is not in docs/bench/results.json', async () => {
  const known = new Set(Object.values(await readStored()).flatMap(({ rows }) => rows.map(({ what }) => what)))
  const [, ...lines] = tableRows('docs/performance.md', '## How fast it is')
  const shown = lines.flatMap(([what = '']) => (what.startsWith('**') ? [] : [what]))
  expect(shown.length).toBeGreaterThanOrEqual(17)
  expect(shown.filter((what) => !known.has(what))).toEqual([])
})
