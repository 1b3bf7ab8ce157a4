// usage: node .ci/step.mjs SECONDS COMMAND…
//
// Runs one step of .ci/run. A step that is not over in time, or leaves processes behind, fails: it prints what was
// still running and what that waited for, and ends all of it. A process that nobody ends holds up a CI run for ever.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const [seconds, program, ...args] = process.argv.slice(2)
const name = [program, ...args].join(' ')
/** Where test/support/running-files.ts keeps the test files that have begun and not ended. */
const RUNNING_FILES = '.test/running.txt'
/** Set in the environment of each process of the step, so that a detached one is found, too. */
const MARK = `CI_STEP=${process.pid}.${Date.now()}`
const GRACE_MS = 5_000
const TCP_STATES = {
  '01': 'established',
  '02': 'connecting',
  '06': 'closing',
  '08': 'closed by the other side',
  '0A': 'listening',
}

/** What a file or link of /proc holds; empty where its process has ended or belongs to somebody else. */
function proc(path, read = readFileSync) {
  try {
    return read(`/proc/${path}`, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR'].includes(error.code)) return ''
    throw error
  }
}

/** The numbers among the names in a directory of /proc: processes, threads, or open files. */
const numbersIn = (path) =>
  [...proc(path, (directory) => readdirSync(directory))].filter((entry) => /^\d+$/.test(entry))

/** The fields of a process or thread behind its name, from its state on. */
const stat = (path) => proc(`${path}/stat`).split(') ').at(-1).split(' ')

const runs = (pid) => !['', 'Z'].includes(stat(pid)[0])

/** The step's processes that still run, oldest first. Only Linux can tell which they are. */
function processes() {
  const found = new Set([String(process.pid)])
  for (const pid of numbersIn('').sort((a, b) => a - b)) {
    const [, parent] = stat(pid)
    const isOfStep = found.has(parent) || proc(`${pid}/environ`).split('\0').includes(MARK)
    if (isOfStep && runs(pid)) found.add(pid)
  }
  found.delete(String(process.pid))
  return [...found]
}

/** @returns {Map<string, string>} each socket of this machine by its inode: who speaks to whom */
function sockets() {
  const address = (hex) => {
    const [host, port] = hex.split(':')
    const bytes = host.length === 8 ? Buffer.from(host, 'hex').reverse().join('.') : 'ipv6'
    return `${bytes}:${Number.parseInt(port, 16)}`
  }
  const rows = ['tcp', 'tcp6'].flatMap((table) => proc(`net/${table}`).trim().split('\n').slice(1))
  return new Map(
    rows.map((row) => {
      const [, local, remote, state, , , , , , inode] = row.trim().split(/\s+/)
      return [inode, `${address(local)} → ${address(remote)} ${TCP_STATES[state] ?? state}`]
    }),
  )
}

/** One process in some lines: its age, what each of its threads does, and its connections. */
function described(pid, connections) {
  const threads = numbersIn(`${pid}/task`).map((id) => {
    const [state] = stat(`${pid}/task/${id}`)
    return state === 'R' ? 'runs' : `waits in ${proc(`${pid}/task/${id}/wchan`) || 'the kernel'}`
  })
  const counted = [...new Set(threads)].map((what) => `${threads.filter((other) => other === what).length} × ${what}`)
  const usedSeconds = stat(pid)
    .slice(11, 13)
    .reduce((sum, ticks) => sum + Number(ticks) / 100, 0)
  const open = numbersIn(`${pid}/fd`).map((fd) => proc(`${pid}/fd/${fd}`, readlinkSync))
  const speaks = open.flatMap((target) => connections.get(/^socket:\[(\d+)\]$/.exec(target)?.[1]) ?? [])
  return [
    `  ${pid}: ${proc(`${pid}/cmdline`).replaceAll('\0', ' ').trim().slice(0, 200)}`,
    `    ${usedSeconds.toFixed(1)} s of processor time; threads: ${counted.join(', ')}`,
    ...speaks.map((connection) => `    ${connection}`),
  ].join('\n')
}

function report(why) {
  const running = existsSync(RUNNING_FILES) ? readFileSync(RUNNING_FILES, 'utf8').trim() : ''
  const connections = sockets()
  const lines = [
    `\nThe step "${name}" ${why}.`,
    ...(running ? [`Test files that have begun and not ended:\n${running.replaceAll(/^/gm, '  ')}`] : []),
    'Processes that were left, and what they waited for:',
    ...processes().map((pid) => described(pid, connections)),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function happens(condition) {
  for (const end = Date.now() + GRACE_MS; Date.now() < end; await sleep(100)) if (condition()) return true
  return false
}

function signal(pid, kind) {
  try {
    process.kill(pid, kind)
  } catch (error) {
    // Otherwise it has ended by itself since then.
    if (error.code !== 'ESRCH') throw error
  }
}

/** Ends what runs, and what loses its parent in the process and could not be found afterwards. */
async function end() {
  const left = new Set()
  for (const kind of ['SIGTERM', 'SIGKILL']) {
    for (const pid of processes()) left.add(pid)
    for (const pid of [...left].filter(runs)) signal(Number(pid), kind)
    if (await happens(() => ![...left].some(runs))) return
  }
}

rmSync(RUNNING_FILES, { force: true })
const [variable, value] = MARK.split('=')
const child = spawn(program, args, {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, [variable]: value },
})
const over = new Promise((resolve, reject) => {
  child.once('error', reject)
  child.once('exit', (code) => resolve(code ?? 1))
})
const cancelled = new Promise((resolve) => {
  for (const kind of ['SIGINT', 'SIGTERM']) process.on(kind, () => resolve('was cancelled'))
})
const timer = new AbortController()
const late = sleep(seconds * 1_000, `was not over after ${seconds} s`, { signal: timer.signal })
late.catch(() => undefined)

let outcome = await Promise.race([over, late, cancelled])
timer.abort()
if (typeof outcome === 'number' && !(await happens(() => processes().length === 0))) outcome = 'left processes behind'
if (typeof outcome === 'string') {
  report(outcome)
  await end()
  outcome = 1
}
process.exit(outcome)
