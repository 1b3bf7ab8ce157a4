import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MEANINGS } from '../../lib/metrics.ts'
import { ROOT, read } from './pages.ts'

it('docs/runbook.md has a line for each metric; -u writes it', async () => {
  const page = read('docs/runbook.md')
  const heading = '| Metric | Counts or measures |\n| --- | --- |\n'
  const [before = '', after = ''] = page.split(heading)
  const rest = after.replace(/^(\|.*\n)*/, '')
  const table = Object.entries(MEANINGS).map(([name, meaning]) => `| \`${name}\` | ${meaning} |\n`)
  await expect(`${before}${heading}${table.join('')}${rest}`).toMatchFileSnapshot(join(ROOT, 'docs/runbook.md'))
})
