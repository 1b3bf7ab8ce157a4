import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { jsonLines, ROOT } from '../support/machine/admin.ts'
import { useStores } from '../support/machine/services.ts'
import { HAS_TERMINAL, runInTerminal } from '../support/machine/terminal.ts'

const ESCAPE = '\u001b['
/** Colours as "31m"; what redraws the line of progress ends otherwise. */
const coloursIn = (text: string) => text.split(ESCAPE).filter((piece) => /^\d+(;\d+)*m/.test(piece))
if (!HAS_TERMINAL)
  console.warn("COLOURS AND QUESTIONS ARE NOT TESTED HERE: util-linux's script is not on this machine.")

describe.runIf(HAS_TERMINAL)('npm run admin at a terminal', () => {
  const service = useStores()
  const atTerminal = (args: string, env: Record<string, string> = {}, typing: [string, string][] = []) =>
    runInTerminal(
      `${process.execPath} ${join(ROOT, 'infra/cli/main.ts')} --local --directory ${service().directory} ${args}`,
      env,
      typing,
    )

  it('has colours', async () => {
    expect((await atTerminal('doctor')).shown).toContain(`${ESCAPE}32mok${ESCAPE}39m`)
    expect((await atTerminal('keys change key_none')).shown).toContain(`${ESCAPE}31m`)
  })

  it('has none with NO_COLOR, whatever its value, in what is printed and in errors', async () => {
    const { shown } = await atTerminal('doctor', { NO_COLOR: '1' })
    expect(shown).toMatch(/\bok\b/)
    expect(coloursIn(shown)).toEqual([])
    const failed = await atTerminal('keys change key_none', { NO_COLOR: 'false' })
    expect(failed.shown).toContain('key_none')
    expect(coloursIn(failed.shown)).toEqual([])
  })

  it('breaks lines of help and of tables where a narrow terminal ends', async () => {
    const main = `${process.execPath} ${join(ROOT, 'infra/cli/main.ts')} --local --directory ${service().directory}`
    const narrow = async (args: string, columns = 60) => {
      const { shown } = await runInTerminal(`stty cols ${columns}; ${main} ${args}`, {})
      return shown.split('\r\n').filter((line) => line.length > columns)
    }
    expect(await narrow('containers put --help')).toEqual([])
    expect(await narrow('keys list', 80)).toEqual([])
  })

  it('asks before it disables a key, and does nothing unless the answer is yes', async () => {
    const create = ['keys', 'create', '--workspace', 'ws_full', '--permission', 'files:promote']
    const [key] = jsonLines(await service().admin('--json', ...create))
    const isDisabled = async () =>
      jsonLines(await service().admin('--json', 'keys', 'change', `${key?.key_id}`))[0]?.disabled
    const question = 'in the local service? [y/N]'

    const no = await atTerminal(`keys change ${key?.key_id} --disable`, {}, [[question, '\r']])
    expect(no.shown).toContain('Nothing was done.')
    expect([no.code, await isDisabled()]).toEqual([1, false])
    const yes = await atTerminal(`keys change ${key?.key_id} --disable`, {}, [[question, 'y\r']])
    expect([yes.code, await isDisabled()]).toEqual([0, true])
  })

  it('shows how far the upload of a large file has come, and leaves nothing of that on the screen', async () => {
    const file = join(service().directory, 'large.bin')
    await writeFile(file, Buffer.alloc(64 * 1024 ** 2))
    const { code, shown } = await atTerminal(`containers put ${file} --container sess_bar`)
    expect([code, shown]).toEqual([0, expect.stringMatching(/large\.bin [\d.]+ MiB of 64 MiB/)])
    const screen = shown.split(`${ESCAPE}2K`).at(-1)
    expect(screen).toMatch(/^cfile_\w+ {2}large\.bin\r\n\r\nPromote large\.bin:/)
  })
})
