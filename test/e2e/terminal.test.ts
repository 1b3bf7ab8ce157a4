import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonLines, ROOT, runAdmin } from '../support/local-service/admin.ts'
import { startStores, type TestService } from '../support/local-service/services.ts'
import { answers, HAS_TERMINAL, runInTerminal } from '../support/local-service/terminal.ts'

const ESCAPE = '\u001b['
/** Colours as "31m"; what redraws the line of progress ends otherwise. */
const coloursIn = (text: string) => text.split(ESCAPE).filter((piece) => /^\d+(;\d+)*m/.test(piece))
if (!HAS_TERMINAL)
  console.warn("COLOURS AND QUESTIONS ARE NOT TESTED HERE: util-linux's script is not on this machine.")

describe.runIf(HAS_TERMINAL)('npm run admin at a terminal', () => {
  let directory: string
  let service: TestService
  beforeAll(async () => {
    service = await startStores()
    directory = service.directory
  })
  afterAll(async () => {
    await service?.stop()
  })
  const atTerminal = (args: string, env: Record<string, string> = {}, typing: [string, string][] = []) =>
    runInTerminal(
      `${process.execPath} ${join(ROOT, 'infra/admin/main.ts')} --local --directory ${directory} ${args}`,
      env,
      typing,
    )

  it('has colours', async () => {
    expect((await atTerminal('doctor')).shown).toContain(`${ESCAPE}32mok${ESCAPE}39m`)
    expect((await atTerminal('keys show key_none')).shown).toContain(`${ESCAPE}31m`)
  })

  it('has none with NO_COLOR, whatever its value, in what is printed and in errors', async () => {
    const { shown } = await atTerminal('doctor', { NO_COLOR: '1' })
    expect(shown).toMatch(/\bok\b/)
    expect(coloursIn(shown)).toEqual([])
    const failed = await atTerminal('keys show key_none', { NO_COLOR: 'false' })
    expect(failed.shown).toContain('key_none')
    expect(coloursIn(failed.shown)).toEqual([])
  })

  it('asks before it disables a key, and does nothing unless the answer is yes', async () => {
    const local = ['--local', '--directory', directory, '--json']
    const create = ['keys', 'create', '--workspace', 'ws_full', '--permission', 'files:promote']
    const [key] = jsonLines(await runAdmin([...local, ...create]))
    const status = async () => jsonLines(await runAdmin([...local, 'keys', 'show', `${key?.key_id}`]))[0]?.status
    const question = 'in the local service? [y/N]'

    const no = await atTerminal(`keys disable ${key?.key_id}`, {}, [[question, '\r']])
    expect(no.shown).toContain('Nothing was done.')
    expect([no.code, await status()]).toEqual([1, 'enabled'])
    const yes = await atTerminal(`keys disable ${key?.key_id}`, {}, [[question, 'y\r']])
    expect([yes.code, await status()]).toEqual([0, 'disabled'])
  })
})

/** What is typed before Tab, and what it becomes. */
const COMPLETED = [
  ['k', 'keys'],
  ['keys ro', 'keys rotate'],
  ['--local workspaces set-q', '--local workspaces set-quota'],
  ['workspaces set-quota ws_1 --y', 'workspaces set-quota ws_1 --yes'],
  ['documents list ws_1 --so', 'documents list ws_1 --sort'],
] as const

describe('completion', () => {
  const run = promisify(execFile)
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'promotion-completion-'))
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await runAdmin(['completion', shell])
      await writeFile(join(directory, `completion.${shell}`), stdout)
    }
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  const has = { bash: answers('bash', 'GNU bash'), zsh: answers('zsh', 'zsh'), fish: answers('fish', 'fish') }
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    if (!has[shell]) console.warn(`COMPLETION IS NOT TESTED IN ${shell.toUpperCase()}: it is not on this machine.`)
  }

  it.runIf(has.bash).each(COMPLETED)('in bash: %j', async (typed, completed) => {
    const words = ['promotion-admin', ...typed.split(' ')]
    const ask = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _promotion_admin; echo "\${COMPREPLY[@]}"`
    const { stdout } = await run('bash', ['-c', `source ${directory}/completion.bash\n${ask}`])
    expect(stdout.trim()).toBe(completed.split(' ').at(-1))
  })

  // Zsh completes for someone who types only: a function in the command's place shows what the line has become.
  it.runIf(has.zsh && HAS_TERMINAL)('in zsh', async () => {
    const echo = `promotion-admin() { print -r -- "<$*>" }; source ${directory}/completion.zsh; PS1='ready> '`
    const typing = COMPLETED.map(([typed]): [string, string] => ['\nready> ', `promotion-admin ${typed}\t\r`])
    const { shown } = await runInTerminal('zsh -f -i', { HOME: directory }, [
      ['', `unsetopt prompt_cr prompt_sp; ${echo}\r`],
      ...typing.map(([, keys]): [string, string] => ['ready> ', keys]),
      ['ready> ', 'exit\r'],
    ])
    expect([...shown.matchAll(/^<(.*)>\r?$/gm)].map(([, line]) => line?.trim())).toEqual(
      COMPLETED.map(([, completed]) => completed),
    )
  })

  it.runIf(has.fish).each(COMPLETED)('in fish: %j', async (typed, completed) => {
    const ask = `source ${directory}/completion.fish; complete -C 'promotion-admin ${typed}'`
    const { stdout } = await run('fish', ['--no-config', '-c', ask], { env: { ...process.env, HOME: directory } })
    expect(stdout.trim()).toBe(completed.split(' ').at(-1))
  })
})
