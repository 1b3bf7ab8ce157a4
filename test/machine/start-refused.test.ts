import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { close, listen } from '../../infra/local/loopback.ts'
import { ROOT } from '../support/machine/services.ts'
import { useNpmStart } from '../support/machine/use-npm-start.ts'
import { useDirectory } from '../support/use-directory.ts'

const { start } = useNpmStart()
const place = useDirectory('no-packages')

/** @returns what it printed, one line */
async function refused(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { exited, output } = await start(env, ...args)
  expect([await exited, output.trimEnd().split('\n').length], output).toEqual([1, 1])
  return output
}

describe('npm start', () => {
  it('says what is needed when npm runs on a Node.js that is too old', async () => {
    const output = await refused({ npm_config_user_agent: 'npm/9.5.0 node/v18.20.8 linux x64' })
    expect(output).toBe('This needs Node.js 22 or newer, and this is Node.js 18: https://nodejs.org\n')
  })

  it.each([
    ['local/start.mjs', 1],
    ['cli/bin.mjs', 2],
  ])('says that npm ci comes first, as the command line does: %s', async (program, exitCode) => {
    const files = ['local/launch.mjs', program].map((file) => join('infra', file))
    for (const file of files) await cp(join(ROOT, file), join(place(), file))
    const child = spawn(process.execPath, [join(place(), 'infra', program)])
    expect(await text(child.stderr)).toBe('Its packages are missing: run npm ci first.\n')
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(exitCode)
  })

  it('has help that names all options', async () => {
    const { exited, output } = await start({}, '--help')
    expect(await exited).toBe(0)
    expect(output.replaceAll(ROOT, '…')).toMatchSnapshot()
  })

  it('says in one line that its directory is a file', async () => {
    expect(await refused({}, '--directory', import.meta.filename)).toContain(import.meta.filename)
  })

  it('says so when its port or that of a store is taken', async () => {
    const other = createServer()
    // Of those that the system gives to nobody: the two below are free.
    const taken = await listen(other, 20_000 + Math.floor(Math.random() * 10_000))
    for (const port of [taken, taken - 1, taken - 2]) {
      const said = `address already in use 127.0.0.1:${taken}. Choose another port: npm start -- --port ${port + 3}`
      expect(await refused({ PORT: String(port) })).toContain(said)
    }
    await close(other)
  })
})
