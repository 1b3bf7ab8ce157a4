import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { packagedService, VARIANTS, type Variant } from '../support/packages.ts'

/** W3005: dependencies that the framework states although a reference implies them. */
const IGNORED = 'W3005'
const isInstalled = answers()
if (!isInstalled) console.warn('cfn-lint is not installed, so test/infra/cfn-lint.test.ts checks nothing here')

describe.runIf(isInstalled)('cfn-lint', () => {
  it.each(Object.keys(VARIANTS) as Variant[])('finds nothing in the template of %s', async (variant) => {
    const { templateFile } = await packagedService(variant)
    const lint = promisify(execFile)('cfn-lint', [
      '--ignore-checks',
      IGNORED,
      '--regions',
      'us-east-1',
      '--',
      templateFile,
    ])
    expect(await lint.catch((error) => error)).toMatchObject({ stdout: '', stderr: '' })
  })
})

function answers(): boolean {
  try {
    execFileSync('cfn-lint', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
