import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { run } from '../support/machine/program.ts'
import { packagedServices } from '../support/template/packages.ts'

/** W3005: dependencies that the framework states although a reference implies them. */
const IGNORED = 'W3005'
const isInstalled = spawnSync('cfn-lint', ['--version'], { stdio: 'ignore' }).status === 0
if (!isInstalled) console.warn('cfn-lint is not installed, so test/template/cfn-lint.test.ts checks nothing here')

// `existing` has all that `prod` has beside `dev`: its keys and topics.
it.runIf(isInstalled)('cfn-lint finds nothing in the templates', async () => {
  const services = await packagedServices('dev', 'existing')
  const templates = services.map(({ templateFile }) => templateFile)
  const lint = run('cfn-lint', ['--ignore-checks', IGNORED, '--', ...templates])
  expect(await lint.catch((error) => error)).toMatchObject({ stdout: '', stderr: '' })
})
