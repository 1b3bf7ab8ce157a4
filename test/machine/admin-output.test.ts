import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { type AdminResult, commandNames, jsonLines, ROOT, runAdmin } from '../support/machine/admin.ts'
import { run } from '../support/machine/program.ts'
import { promote } from '../support/machine/requests.ts'
import { useService } from '../support/machine/services.ts'

const service = useService()
const admin = (...args: string[]) => service().admin(...args)

/** @returns the id of the document */
async function promoteFileIn(folder: string): Promise<string> {
  const { container_id: containerId, files, standard_key: token, base_url } = service().demo
  const fileId = files.find(({ path }) => path.startsWith(folder))?.file_id ?? ''
  return ((await promote(base_url, { token, containerId, fileId })).body as { id: string }).id
}

/** Masks all that differs from run to run, and the width of columns that follows from it. */
function masked(text: string): string {
  return text
    .replace(/cfp_\w+/g, 'TOKEN')
    .replace(/key_[0-9A-Za-z]{28}/g, 'KEY_ID')
    .replace(/(file_)?[1-9A-HJ-NP-Za-km-z]{21,22}\b/g, (_, isDocument) => (isDocument ? 'DOCUMENT_ID' : 'ATTEMPT_ID'))
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/ {2,}/g, '  ')
}

/** As on a terminal, with what goes to which output. */
const shown = ({ code, stdout, stderr }: AdminResult) => masked(`out:\n${stdout}err:\n${stderr}exit code: ${code}`)

it('what people see is as it was', async () => {
  const id = await promoteFileIn('отчёты')
  const seen: string[] = []
  const see = async (line: string) => {
    const result = await admin(...line.split(' '))
    seen.push(masked(`$ promotion-admin --local ${line}`), shown(result), '')
    return result
  }
  await see('workspaces create ws_acme --quota 20GiB')
  await see('workspaces create ws_acme --quota 1GiB')
  await see('workspaces list')
  await see('workspaces set ws_demo --expire-after 36h --expire-at-most 30d')
  await see('workspaces set ws_demo --expire-after 31d')
  await see('workspaces show ws_demo')
  await see('workspaces set ws_full --quota 500KB')
  await see('workspaces set ws_full --quota 500KB --yes')
  const made = await see('keys create --workspace ws_acme --permission files:promote --expires 90d')
  const keyId = /key_\w+/.exec(made.stderr)?.[0] ?? ''
  await see('keys list --workspace ws_acme')
  const ofKey = [
    'rotate ID --expires 90d',
    'change ID --disable',
    'change ID --disable --yes',
    'change ID --expires 0s --enable',
  ]
  for (const line of [...ofKey, 'delete ID --yes']) await see(`keys ${line.replace('ID', keyId)}`)
  await see('documents list ws_demo')
  const ofDocument = ['show ID', 'expire ID --in 31d', 'expire ID --never', 'delete ID --yes', 'delete ID --yes']
  for (const line of [...ofDocument, 'expire ID --in 1h']) {
    await see(`documents ${line.replace('ID', `ws_demo ${id}`)}`)
  }
  for (const line of ['workspaces delete ws_acme --yes', 'doctor']) await see(line)
  expect(seen.join('\n')).toMatchSnapshot()
})

/**
 * By command: the fields of the table in docs/administration.md; a word in italics stands for those that follow it
 * once, a link for those of a schema of the API.
 */
async function documentedFields(): Promise<Map<string, string[]>> {
  const { schemas } = parse(await readFile(join(ROOT, 'docs/openapi.yaml'), 'utf8'), { merge: true }).components
  const fieldsOf = (schema: string) => Object.keys(schemas[schema].properties).map((name) => `\`${name}\``)
  const text = await readFile(join(ROOT, 'docs/administration.md'), 'utf8')
  const page = text.replace(/\[`(\w+)`\]\(openapi\.yaml\)/g, (_, schema) => fieldsOf(schema).join())
  const [, table = ''] = /\| Command \| Fields \|\n(.*?)\n\n/s.exec(page) ?? []
  const shared = new Map([...table.matchAll(/\*(\w+)\*: ([^;|]+)/g)].map(([, name, fields = '']) => [name, fields]))
  const rows = [...table.matchAll(/^\| (`.*?) \| (.*) \|$/gm)].flatMap(([, commands = '', text = '']) => {
    const all = text.replace(/\*(\w+)\*(?!:)/g, (_, name) => shared.get(name) ?? '')
    const fields = [...all.matchAll(/`(\w+)`/g)].map(([, field = '']) => field)
    const [group = ''] = commands.slice(1).split(/[ `]/)
    const names = [...commands.matchAll(/`(.*?)`/g)].map(([, name = '']) => name)
    return names.map(
      (name) => [name.includes(' ') || !names[0]?.includes(' ') ? name : `${group} ${name}`, fields] as const,
    )
  })
  return new Map(rows)
}

it('what programs see has the fields that docs/administration.md names, for every command', async () => {
  const documented = await documentedFields()
  const commands = await commandNames()
  expect(commands.length).toBeGreaterThan(20)
  const undocumented = commands.filter((command) => !documented.has(command) && !command.startsWith('restore '))
  expect(undocumented, 'not in docs/administration.md').toEqual([])
  const expectFields = async (command: string, ...args: string[]) => {
    const result = await admin(...command.split(' '), ...args, '--json')
    const lines = jsonLines(result)
    expect(lines.length, `${command}: ${result.stderr}`).toBeGreaterThan(0)
    for (const line of lines) {
      for (const field of Object.keys(line)) expect(documented.get(command), `${command}: ${field}`).toContain(field)
    }
    documented.delete(command)
    return { lines }
  }
  const id = await promoteFileIn('output')
  await expectFields('workspaces create', 'ws_json')
  await expectFields('workspaces set', 'ws_json', '--expire-after', '1h', '--expire-at-most', '1h')
  await expectFields('workspaces show', 'ws_json')
  const { lines } = await expectFields('keys create', '--workspace', 'ws_json', '--user', 'me', '--management')
  const keyId = `${lines[0]?.key_id}`
  await expectFields('keys list')
  await expectFields('keys rotate', keyId)
  await expectFields('keys change', keyId, '--expires', 'never', '--with-links')
  await expectFields('keys delete', keyId, '--yes')
  await expectFields('documents expire', 'ws_demo', id, '--in', '1h')
  await expectFields('documents list', 'ws_demo')
  await expectFields('documents show', 'ws_demo', id)
  await service().ask('POST', `/files/${id}/links`)
  const links = await expectFields('documents links', 'ws_demo', id)
  await expectFields('documents unlink', 'ws_demo', id, `${links.lines[0]?.id}`, '--yes')
  await expectFields('documents delete', 'ws_demo', id, '--yes')
  await expectFields('containers put', join(ROOT, 'LICENSE'), '--container', 'sess_json')
  await expectFields('containers grant', 'sess_json')
  await expectFields('containers upload-url', 'sess_json', 'a.txt')
  await expectFields('workspaces delete', 'ws_json', '--erase', '--after', '0s', '--yes')
  await expectFields('workspaces list')
  await expectFields('audit')
  await expectFields('doctor')
  await expectFields('smoke', '--no-expiry')
  // They need a deployed stage: test/machine/mock-account.test.ts.
  for (const command of ['stop', 'resume']) documented.delete(command)
  expect([...documented.keys()], 'documented, and not there').toEqual([])
})

describe('promotion-admin', () => {
  const bin = join(ROOT, manifest.bin['promotion-admin'])

  it('is what npx runs in the checkout, and has a version', async () => {
    const { stdout } = await run(process.execPath, [bin, '--version'])
    expect(stdout).toBe(`${manifest.version}\n`)
    // npx keeps links to the commands of a checkout: this machine's may be of an older one.
    const env = { ...process.env, npm_config_cache: join(service().directory, 'npm-cache') }
    const npx = await run('npx', ['--no', '--', 'promotion-admin', '--version'], { cwd: ROOT, env })
    expect(npx.stdout).toBe(`${manifest.version}\n`)
  })

  it('has colours when it is told to, and none when it is not a terminal', async () => {
    const args = ['--local', '--directory', service().directory, 'doctor']
    expect((await admin('doctor')).stdout).not.toContain('\u001b')
    expect((await runAdmin(args, { FORCE_COLOR: '1' })).stdout).toContain('\u001b[32mok\u001b[39m')
  })
})
