import { join } from 'node:path'
import { expect, it } from 'vitest'
import { METRICS } from '../../lib/metrics.ts'
import { ROOT, read } from './pages.ts'

it('docs/runbook.md says of each metric what it counts or measures; -u writes a line to complete', async () => {
  const page = read('docs/runbook.md')
  const heading = '| Metric | Counts or measures |\n| --- | --- |\n'
  const [before = '', after = ''] = page.split(heading)
  const [written = ''] = /^(\|.*\n)*/.exec(after) ?? []
  const lineOf = (name: string) => written.split(/(?<=\n)/).find((line) => line.startsWith(`| \`${name}\` | `))
  const table = Object.keys(METRICS).map((name) => lineOf(name) ?? `| \`${name}\` | ? |\n`)
  const whole = `${before}${heading}${table.join('')}${after.slice(written.length)}`
  await expect(whole).toMatchFileSnapshot(join(ROOT, 'docs/runbook.md'))
  expect(table.filter((line) => /\| \??\s*\|$/m.test(line))).toEqual([])
})
