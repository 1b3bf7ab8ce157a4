import { execFileSync, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface MockAccount {
  endpoint: string
  /** What a process needs in order to use the account. */
  environment: Record<string, string>
  /** Resources, by logical id, that cannot be created from now on. */
  failOn(...logicalIds: string[]): Promise<void>
  stop(): void
}

const SCRIPT = join(import.meta.dirname, 'mock_account.py')

/** Python, and moto's server in it (pip install 'moto[server]'). */
export function isMotoInstalled(): boolean {
  try {
    execFileSync('python3', ['-c', 'import moto.server, moto.cloudformation, flask'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** An AWS account of its own, in memory. @param directory for a file of its own */
export async function startMockAccount(directory: string, region: string): Promise<MockAccount> {
  const failing = join(directory, 'failing')
  await writeFile(failing, '')
  const port = await freePort()
  const server = spawn('python3', [SCRIPT, String(port), failing], { stdio: ['ignore', 'ignore', 'pipe'] })
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

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0))
    })
  })
}
