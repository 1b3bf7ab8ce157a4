import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../support/machine/admin.ts'

it.each([
  [['one', 'other'], 0],
  [['one', 'failing', 'other'], 1],
])('npm run check runs all of %j, and exits with %i', (scripts, code) => {
  const cwd = mkdtempSync(join(tmpdir(), 'check-'))
  const all = { one: 'echo 1', failing: 'exit 3', other: 'echo 2' }
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ scripts: all }))
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'test/check.mjs'), ...scripts], { cwd })
  expect([status, `${stderr}`.match(/\d/g)?.toSorted()]).toEqual([code, ['1', '2']])
})
