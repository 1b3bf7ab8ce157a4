import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { close, listen } from '../../infra/local/listen.ts'
import { ROOT } from '../support/local-service/services.ts'
import { START, useNpmStart } from '../support/local-service/use-npm-start.ts'

const { start } = useNpmStart()

describe('npm start', () => {
  it.each([
    [
      'an unknown option',
      ['--prot', '1'],
      "unknown option '--prot' (Did you mean --port?). The options are --port, --fresh",
    ],
    ['something that is no option', ['fresh'], 'npm start takes options only: --port, --fresh'],
    ['an impossible port', ['--port', 'http'], 'it must be a number from 1 to 65535.'],
  ])('names the known options for %s', async (_, args, said) => {
    const { exited, output } = await start({}, ...args)
    expect(await exited).toBe(1)
    expect(output).toContain(said)
    expect(output.trim().split('\n')).toHaveLength(1)
  })

  it('says so when npm took an option for itself', async () => {
    const { exited, output } = await start({ npm_config_fresh: 'true' })
    expect(await exited).toBe(1)
    expect(output).toBe('npm took --fresh for itself: write npm start -- --fresh\n')
  })

  it('says what is needed when npm runs on a Node.js that is too old', async () => {
    const { exited, output } = await start({ npm_config_user_agent: 'npm/9.5.0 node/v18.20.8 linux x64' })
    expect(await exited).toBe(1)
    expect(output).toBe('This needs Node.js 22 or newer, and this is Node.js 18: https://nodejs.org\n')
  })

  it('has help that names all options', async () => {
    const { exited, output } = await start({}, '--help')
    expect(await exited).toBe(0)
    expect(output.replaceAll(ROOT, '…')).toMatchSnapshot()
  })

  it('says in one line that its directory is a file', async () => {
    const { exited, output } = await start({}, '--directory', import.meta.filename)
    expect(await exited).toBe(1)
    expect(output).toMatch(/^There is a file where a directory is needed.*\n$/)
  })

  it('says in one line that its directory is read only', async () => {
    const place = await mkdtemp(join(tmpdir(), 'promotion-read-only-'))
    await chmod(place, 0o555)
    // To root nothing is read only.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const child = spawn(process.execPath, [START, '--directory', join(place, 'data')], { ...nobody, cwd: '/' })
    const output = await text(child.stderr)
    expect(output).toMatch(/^This must be writable, but is not .*\n$/)
    await rm(place, { recursive: true })
  })

  it('says so when the port is taken', async () => {
    const other = createServer()
    const port = await listen(other, 0)
    const { exited, output } = await start({ PORT: String(port) })
    expect(await exited).toBe(1)
    expect(output).toContain(
      `Port ${port} is taken by another program. Choose another one: npm start -- --port ${port + 1}`,
    )
    await close(other)
  })

  it.each(['0', '65536', 'http', ''])('says so when PORT is %j', async (port) => {
    const { exited, output } = await start({ PORT: port })
    expect(await exited).toBe(1)
    expect(output).toContain('must be a number from 1 to 65535')
  })
})
