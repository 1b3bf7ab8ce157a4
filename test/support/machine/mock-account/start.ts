import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../use-npm-start.ts'

export interface MockAccount {
  endpoint: string
  /** A process that uses the account needs these variables. */
  environment: Record<string, string>
  /** Resources, by logical id, that cannot be created from now on. */
  failOn(...logicalIds: string[]): Promise<void>
  stop(): void
}

const SCRIPT = join(import.meta.dirname, 'mock_account.py')

/** Where a Python may be: on the PATH, or among the versions of pyenv, whichever of them is in use. */
function pythons(): string[] {
  const { PATH = '', PYENV_ROOT = join(homedir(), '.pyenv') } = process.env
  const folders = [...PATH.split(delimiter), ...globSync(join(PYENV_ROOT, 'versions/*/bin'))]
  return [...new Set(folders.map((folder) => join(folder, 'python3')))].filter((file) => existsSync(file))
}

/** A Python that has moto's server (pip install 'moto[server]'). */
export const PYTHON = pythons().find((python) => {
  // To import them takes seconds.
  const find = "from importlib.util import find_spec; assert all(map(find_spec, ['moto.cloudformation', 'flask']))"
  return spawnSync(python, ['-c', find], { stdio: 'ignore' }).status === 0
})

export const isMotoInstalled = () => PYTHON !== undefined
if (!isMotoInstalled())
  console.warn("moto is not installed (pip install 'moto[server]'), so NOTHING IS CHECKED ON IT HERE")

/** An AWS account of its own, in memory. @param directory for a file of its own */
export async function startMockAccount(directory: string, region: string): Promise<MockAccount> {
  const failing = join(directory, 'failing')
  await writeFile(failing, '')
  const port = await freePort()
  const server = spawn(`${PYTHON}`, [SCRIPT, String(port), failing], { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-4000)
  })
  const endpoint = `http://127.0.0.1:${port}`
  for (let tries = 0; !(await answers(endpoint)); tries++) {
    if (server.exitCode !== null || tries > 300) throw new Error(`the mock account did not start:\n${complaints}`)
    await sleep(200)
  }
  return {
    endpoint,
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
    failOn: (...logicalIds) => writeFile(failing, logicalIds.join('\n')),
    stop: () => void server.kill(),
  }
}

const answers = (endpoint: string) =>
  fetch(`${endpoint}/moto-api/data.json`).then(
    ({ ok }) => ok,
    () => false,
  )
