import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { close, listen } from '../../infra/local/loopback.ts'
import { ROOT } from '../support/machine/services.ts'
import { freePort, useNpmStart } from '../support/machine/use-npm-start.ts'
import { useDirectory } from '../support/use-directory.ts'

const { start } = useNpmStart()
const place = useDirectory('no-packages')

/** @returns what it printed */
async function refused(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { exited, output } = await start(env, ...args)
  expect(await exited, output).toBe(1)
  return output
}

describe('npm start', () => {
  it('says what is wrong with its options', async () => {
    expect(await refused({}, '--prot', '1')).toBe("error: unknown option '--prot'\n(Did you mean --port?)\n")
    expect(await refused({ PORT: '0' })).toContain("from env 'PORT' is invalid. It must be a number from 1 to 65535.")
    expect(await refused({ npm_config_fresh: 'true' })).toContain('itself: write npm start -- --fresh')
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
    expect(await refused({}, '--directory', import.meta.filename)).toMatch(/^EEXIST.*start-refused.test.ts'\n$/)
  })

  it('says so when its port or that of a store is taken', async () => {
    const other = createServer()
    const free = await freePort()
    const taken = await listen(other, free + 2)
    for (const port of [free, free + 1, free + 2]) {
      const said = `address already in use 127.0.0.1:${taken}. npm start -- --port <number> uses other ports.\n`
      expect(await refused({ PORT: String(port) })).toBe(`Building and starting …\nlisten EADDRINUSE: ${said}`)
    }
    await close(other)
  })
})
