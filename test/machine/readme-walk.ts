import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FencedBlock, fencedBlocks, isInstalled as isThere } from '../support/fenced-blocks.ts'
import { printedBy, run } from '../support/machine/program.ts'
import { freePort } from '../support/machine/use-npm-start.ts'

/**
 * Goes through README.md, docs/clients.md and docs/sandboxes.md as a new user would: in a fresh clone, with a fresh home whose name has a
 * space. Every fenced block is run as it stands, in order and in one terminal, or says in a comment why not; what JSON
 * follows a command is what it must print. By itself (npm run walk) it runs npm ci, too.
 */
export interface Step {
  where: string
  block: FencedBlock
  /** undefined: it was run, and did what the page says. */
  notRun: string | undefined
  output: string
}

const ROOT = join(import.meta.dirname, '../..')
const PAGES = ['README.md', 'docs/clients.md', 'docs/sandboxes.md']
/** Blocks in these languages are read, not run. */
const PICTURES = new Set(['mermaid', '', 'text', 'console'])
const NETWORK = /^(https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_(file|dir)|npm_config_(registry|cafile))$/i
const RETRY_FOR_MS = 600_000

interface Walk {
  checkout: string
  env: Record<string, string>
  isInstalled: boolean
  services: ChildProcess[]
}

/** @param options.isInstalled with the packages of this checkout instead of npm ci */
export async function walkThroughReadme({ isInstalled }: { isInstalled: boolean }): Promise<Step[]> {
  const home = join(await mkdtemp(join(tmpdir(), 'promotion-readme-')), 'a home')
  const checkout = join(home, 'container-file-promotion')
  await mkdir(home)
  const walk: Walk = { checkout, env: await freshEnvironment(home), isInstalled, services: [] }
  try {
    await run('git', ['clone', '--quiet', ROOT, checkout])
    // The reader of clients.md has installed the libraries.
    await symlink(join(ROOT, 'test/node_modules'), join(home, 'node_modules'))
    if (isInstalled) await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
    const steps: Step[] = []
    let printed = ''
    for (const page of PAGES) {
      for (const block of fencedBlocks(await readFile(join(checkout, page), 'utf8'))) {
        const where = `${page}:${block.line}`
        const isMissing = !(await isThere(where, block.language, block.text, walk.env))
        const notRun = block.notRun ?? (PICTURES.has(block.language) || isMissing ? 'no command here' : undefined)
        if (notRun === undefined && block.language === 'json') expectSameForm(where, block.text, printed)
        else if (notRun === undefined) printed = await runBlock(where, block, walk)
        steps.push({ where, block, notRun, output: notRun === undefined ? printed : '' })
      }
    }
    return steps
  } finally {
    for (const service of walk.services) {
      if (service.exitCode !== null || service.pid === undefined) continue
      // To the whole group, as Ctrl-C in a terminal: npm passes no signal on.
      process.kill(-service.pid, 'SIGINT')
      await once(service, 'exit')
    }
    await rm(join(home, '..'), { recursive: true, force: true })
  }
}

/** Nothing of this process but where its programs are; a free port, since 3000 may be in use. */
async function freshEnvironment(home: string): Promise<Record<string, string>> {
  const bin = join(ROOT, 'node_modules/.bin')
  const path = (process.env.PATH ?? '').split(':').filter((each) => each !== bin)
  // How this machine reaches the registry is the network's matter, not the user's.
  const network = Object.entries(process.env).flatMap(([name, value]) =>
    NETWORK.test(name) && value !== undefined ? [[name, value]] : [],
  )
  return {
    ...Object.fromEntries(network),
    HOME: home,
    PATH: path.join(':'),
    PORT: String(await freePort()),
    REDOCLY_TELEMETRY: 'off',
  }
}

async function runBlock(where: string, block: FencedBlock, walk: Walk): Promise<string> {
  const { language } = block
  const text = block.text.replace(
    /(?<=127\.0\.0\.1:)300([01])/g,
    (_, above) => `${Number(walk.env.PORT) + Number(above)}`,
  )
  // The result of a program is the value that it assigns, so that is printed.
  const name = /^(?:const )?(\w+) =/m.exec(text)?.[1]
  if (language === 'js')
    return runFile(where, 'node', ['--input-type=module', '-e', `${text}\nconsole.log(${name})`], walk)
  if (language === 'python') {
    return runFile(where, 'python3', ['-c', `${text}\nprint(${name})`], walk)
  }
  if (language !== 'sh')
    throw new Error(`${where}: nobody knows how to run ${language}; say why not, in a comment before it`)
  const command = walk.isInstalled ? text.replace(/npm ci( && |\n)/, '') : text
  if (/npm start\b/.test(command)) return startService(where, command, walk)
  // Later blocks have what a block exports.
  const exported = join(walk.checkout, '..', 'exported')
  const output = await runFile(where, 'sh', ['-ec', `${command}\nenv -0 > "$0"`, exported], walk)
  const variables = (await readFile(exported, 'utf8')).split('\0').filter(Boolean)
  walk.env = Object.fromEntries(variables.map((each) => each.split(/=(.*)/s).slice(0, 2)))
  return output
}

async function runFile(where: string, file: string, args: string[], { checkout, env }: Walk): Promise<string> {
  try {
    const { stdout } = await run(file, args, { cwd: checkout, env, timeout: RETRY_FOR_MS })
    return stdout
  } catch (error) {
    const { message, stdout = '' } = error as Error & { stdout?: string }
    throw new Error(`${where} does not work as written: ${message}\n${stdout}`, { cause: error })
  }
}

/** Runs until the walk ends. */
async function startService(where: string, command: string, walk: Walk): Promise<string> {
  const { checkout, env, services } = walk
  const child = spawn('sh', ['-ec', command], { cwd: checkout, env, detached: true })
  services.push(child)
  const ready = Promise.withResolvers<void>()
  const output = printedBy(child, (text) => text.includes('/promote\n') && ready.resolve())
  child.once('exit', (code) => ready.reject(new Error(`${where}: npm start ended with ${code}:\n${output()}`)))
  await ready.promise
  return output()
}

/** The same fields with values of the same types, and the same values where they are no ids or times. */
function expectSameForm(where: string, said: string, printed: string): void {
  const [expected, actual] = [said, printed].map((text) => formOf(JSON.parse(text)))
  if (expected !== actual) throw new Error(`${where} says\n${expected}\nand this is printed:\n${actual}`)
}

function formOf(value: unknown): string {
  return JSON.stringify(value, (key, each) => (/^(id|created_at|request_id)$/.test(key) ? typeof each : each), 2)
}

if (process.argv[1] === import.meta.filename) {
  const steps = await walkThroughReadme({ isInstalled: process.argv.includes('--installed') })
  for (const { where, notRun } of steps) {
    console.log(`${where}  ${notRun === undefined ? 'works as written' : `not run: ${notRun}`}`)
  }
}
