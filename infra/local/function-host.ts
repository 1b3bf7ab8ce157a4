import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { close, LOOPBACK, listen } from './listen.ts'
import { SERVERLESS_CLI } from './service-definition.ts'

export interface FunctionHost {
  /** Port of Lambda's own API. */
  lambdaPort: number
  /** Resolves when the host ended by itself. */
  failed: Promise<void>
  stop(): Promise<void>
}

export interface FunctionHostOptions {
  root: string
  stage: string
  /** Added to the environment; the functions see of it what starts with AWS_, and what serverless.yml sets. */
  env: Record<string, string>
  log: (line: string) => void
  /** Where a debugger may attach, on loopback. */
  inspectPort?: number
}

/** Loaded into the function host before the framework. */
const PRELOADED = ['exit-with-parent.mjs', 'refuse-foreign.mjs'].map((name) => new URL(name, import.meta.url).href)
const START_TIMEOUT_MS = 60_000

/** Serves the functions of serverless.yml with serverless-offline, in a process of its own that ends with this one. */
export async function startFunctionHost(options: FunctionHostOptions): Promise<FunctionHost> {
  const [httpPort, lambdaPort] = await freePorts()
  const flags = { stage: options.stage, host: LOOPBACK, httpPort, lambdaPort }
  const child = fork(
    SERVERLESS_CLI,
    [
      'offline',
      'start',
      '--noPrependStageInUrl',
      '--useInProcess',
      ...Object.entries(flags).flatMap(([k, v]) => [`--${k}`, `${v}`]),
    ],
    {
      cwd: options.root,
      env: { ...process.env, ...options.env },
      execArgv: [...PRELOADED.flatMap((url) => ['--import', url]), ...inspector(options.inspectPort)],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Not in the terminal's process group: Ctrl-C reaches the parent, and that stops the child.
      detached: true,
    },
  )
  const output: string[] = []
  let isRunning = true
  let isStarted = false
  let isStopping = false
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      if (!isStarted) output.push(text)
      options.log(text)
    })
  }
  const exited = once(child, 'exit')
  const failed = new Promise<void>((resolve) => {
    child.once('exit', () => {
      isRunning = false
      if (!isStopping) resolve()
    })
  })
  const stop = async () => {
    isStopping = true
    if (isRunning) child.kill('SIGKILL')
    await exited
  }
  const giveUpAt = Date.now() + START_TIMEOUT_MS
  while (!(await answers(httpPort))) {
    if (!isRunning || Date.now() > giveUpAt) {
      await stop()
      throw new Error(`serverless-offline did not start:\n${output.join('')}`)
    }
    await sleep(50)
  }
  isStarted = true
  return { lambdaPort, failed, stop }
}

function inspector(port: number | undefined): string[] {
  return port === undefined ? [] : [`--inspect=${LOOPBACK}:${port}`, '--enable-source-maps']
}

async function answers(port: number): Promise<boolean> {
  try {
    await fetch(`http://${LOOPBACK}:${port}/`)
    return true
  } catch {
    return false
  }
}

/** serverless-offline cannot let the system choose its ports. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()]
  const ports = await Promise.all(servers.map((server) => listen(server, 0)))
  await Promise.all(servers.map(close))
  return ports as [number, number]
}
