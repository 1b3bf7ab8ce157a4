import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { PACKAGING_TIMEOUT_MS, packagedService, VARIANTS, type Variant } from '../support/package/packages.ts'

/** W3005: dependencies that the framework states although a reference implies them. */
const IGNORED = 'W3005'
const isInstalled = answers()
if (!isInstalled) console.warn('cfn-lint is not installed, so test/infra/cfn-lint.test.ts checks nothing here')

describe.runIf(isInstalled)('cfn-lint', () => {
  it('finds nothing in the templates', { timeout: PACKAGING_TIMEOUT_MS }, async () => {
    const services = await Promise.all((Object.keys(VARIANTS) as Variant[]).map(packagedService))
    const templates = services.map(({ templateFile }) => templateFile)
    const lint = promisify(execFile)('cfn-lint', ['--ignore-checks', IGNORED, '--', ...templates])
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
