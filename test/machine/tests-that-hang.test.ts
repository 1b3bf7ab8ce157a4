import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../support/machine/admin.ts'
import { useDirectory } from '../support/use-directory.ts'

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

/** CI's system: elsewhere nobody can tell which processes a step has left. */
const onLinux = it.runIf(process.platform === 'linux')

/** A step of .ci/run, with a limit in seconds; cancelled as soon as it hangs. */
async function step(seconds: number, command: string[], cwd: string, { hangs = (): boolean => false } = {}) {
  const args = [join(ROOT, '.ci/step.mjs'), String(seconds), ...command]
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const cancelling = setInterval(() => hangs() && child.kill('SIGTERM'), 100)
  const output = await text(child.stdout)
  clearInterval(cancelling)
  const [code] = await ended
  return { code, output }
}

/** A step names its processes: some may still run. */
async function stillRunning(output: string) {
  const pids = [...output.matchAll(/^ {2}(\d+): /gm)].map(([, pid]) => Number(pid))
  expect(pids).not.toEqual([])
  const states = pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '(gone) Z'))
  return (await Promise.all(states)).filter((stat) => !/\) Z/.test(stat))
}

onLinux.concurrent('a suite without an end is named, with its child and its connection, and ended', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const cwd = join(directory(), 'suite')
  await mkdir(cwd)
  const vitest = (path: string) => JSON.stringify(join(ROOT, 'node_modules/vitest/dist', path))
  await writeFile(join(cwd, 'other.test.js'), `import { it } from ${vitest('index.js')}\nit('is over', () => {})`)
  await writeFile(
    join(cwd, 'hanging.test.js'),
    `import { spawn } from 'node:child_process'
    import { writeFileSync } from 'node:fs'
    import { connect } from 'node:net'
    import { it } from ${vitest('index.js')}
    it('hangs', () => new Promise((resolve) => {
      const child = spawn('sleep', ['4321'], { detached: true, env: {} }).once('exit', resolve)
      child.once('spawn', () => connect(${port}, '127.0.0.1', () => writeFileSync('hangs', '')))
    }))`,
  )
  await writeFile(
    join(cwd, 'vitest.config.mjs'),
    `import { RunningFiles } from ${JSON.stringify(join(ROOT, 'test/support/running-files.ts'))}
    export default { test: { pool: 'threads', testTimeout: 0, reporters: ['default', new RunningFiles('.test/running.txt')] } }`,
  )
  const isTheOnlyOne = (path: string) => existsSync(path) && readFileSync(path, 'utf8') === 'hanging.test.js'
  const hangs = () => existsSync(join(cwd, 'hangs')) && isTheOnlyOne(join(cwd, '.test/running.txt'))
  const program = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const { code, output } = await step(120, [process.execPath, program, 'run'], cwd, { hangs })
  expect(code).toBe(1)
  expect(output).toContain('was cancelled.\nTest files that have begun and not ended:\n  hanging.test.js\nProcesses')
  expect(output).toMatch(/s of processor time; threads: .*waits in/)
  expect(output).toMatch(/: sleep 4321\n/)
  expect(output).toMatch(new RegExp(` → 127\\.0\\.0\\.1:${port} established`))
  expect(await stillRunning(output)).toEqual([])
})

onLinux.concurrent('a step that is not over in time is ended', async () => {
  const { code, output } = await step(1, ['sleep', '2345'], directory())
  expect(code).toBe(1)
  expect(output).toMatch(/^\nThe step "sleep 2345" was not over after 1 s\.\nProcesses.*\n {2}\d+: sleep 2345\n/)
  expect(await stillRunning(output)).toEqual([])
})

onLinux.concurrent('a step that ends by itself answers with its own code, and may leave nothing behind', async () => {
  const run = (script: string) => step(30, [process.execPath, '-e', script], directory())
  expect(await run('process.exit(0)')).toEqual({ code: 0, output: '' })
  expect(await run('process.exit(3)')).toEqual({ code: 3, output: '' })
  const left = await run(
    `require('child_process').spawn('sleep', ['1234'], { detached: true, stdio: 'ignore' }).unref()`,
  )
  expect(left.code).toBe(1)
  expect(left.output).toMatch(/left processes behind(.*\n)*.*: sleep 1234\n/)
  expect(await stillRunning(left.output)).toEqual([])
})

it('all steps together end within 40 minutes', async () => {
  const script = await readFile(join(ROOT, '.ci/run'), 'utf8')
  const limits = [...script.matchAll(/(?:step|timeout -k 10) (\d+) /g)].map(([, seconds]) => Number(seconds))
  expect(limits).toHaveLength(4)
  const graceSeconds = 15
  expect(limits.reduce((sum, seconds) => sum + seconds + graceSeconds, 0)).toBeLessThan(40 * 60)
})
