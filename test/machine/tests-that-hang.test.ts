import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useDirectory } from '../support/use-directory.ts'

const ROOT = join(import.meta.dirname, '../..')
const directory = useDirectory('tests-that-hang')

/** Runs a test in a project of its own, with this project's set-up. */
async function runOf(body: string): Promise<{ isOver: boolean; code: unknown; output: string }> {
  const cwd = join(directory(), `${Math.random()}`)
  await mkdir(cwd)
  const supported = (name: string) => JSON.stringify(join(ROOT, 'test/support', name))
  await writeFile(
    join(cwd, 'one.test.js'),
    `import { it } from ${JSON.stringify(import.meta.resolve('vitest'))}
    import fc from ${JSON.stringify(import.meta.resolve('fast-check'))}
    import { assertProperty } from ${supported('assert-property.ts')}
    it('is fine', () => {})
    it('hangs', async () => { ${body} })`,
  )
  await writeFile(
    join(cwd, 'vitest.config.mjs'),
    `export default { test: { pool: 'threads', testTimeout: 0, isolate: false, experimental: { viteModuleRunner: false },
      setupFiles: [${supported('end-blocked-run.ts')}] } }`,
  )
  const env = { ...process.env, MOST_BLOCKED_SECONDS: '3', NO_COLOR: '1' }
  const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run']
  return new Promise((resolve) => {
    execFile(process.execPath, vitest, { cwd, env, timeout: 120_000 }, (error, stdout, stderr) => {
      const isOver = error?.signal !== 'SIGTERM'
      resolve({ isOver, code: error?.code ?? error?.signal, output: stdout + stderr })
    })
  })
}

describe.concurrent('a run of tests ends, and says where', () => {
  it.each([
    ['a loop', 'for (;;);'],
    ['a loop of promises', 'for (;;) await undefined'],
  ])('%s without a pause', async (_, body) => {
    const { isOver, code, output } = await runOf(body)
    expect([isOver, code === undefined]).toEqual([true, false])
    expect(output).toMatch(/nothing but this test could run:\n.*one\.test\.js > hangs/)
  })

  it('a failing property, although shrinking it has no end', async () => {
    const never =
      'let cases = 0; const oneCase = () => { if (cases++) return new Promise(() => {}); throw new Error("planted") }'
    const { isOver, code, output } = await runOf(`${never}
      await assertProperty(fc.asyncProperty(fc.nat(), oneCase))`)
    expect([isOver, code]).toEqual([true, 1])
    expect(output).toMatch(/seed: -?\d+, path: "\d+".*planted/s)
  })
})
