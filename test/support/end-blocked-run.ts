/**
 * Vitest's own time limits are timers: a test that loops without a pause never lets them fire, and a run would hang. A thread
 * of its own looks whether the event loop of the tests still turns. If not, it says which test ran, and ends the run.
 */
import { url as debuggerUrl } from 'node:inspector'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { beforeEach, expect } from 'vitest'

/** Much longer than any step without a pause, on a busy machine, too. */
const MOST_SECONDS = Number(process.env.MOST_BLOCKED_SECONDS ?? 45)
const NAME_BYTES = 1000

function watch(): (name: string) => void {
  const turns = new Int32Array(new SharedArrayBuffer(4))
  const name = new Uint8Array(new SharedArrayBuffer(NAME_BYTES))
  setInterval(() => Atomics.add(turns, 0, 1), 200).unref()
  const watcher = new Worker(
    `const { workerData: { turns, name, mostSeconds } } = require('node:worker_threads')
    const { writeSync } = require('node:fs')
    let [seen, seconds] = [-1, 0]
    // Seconds of this thread: while the machine sleeps or is too busy for it, none pass.
    setInterval(() => {
      const now = Atomics.load(turns, 0)
      seconds = now === seen ? seconds + 1 : 0
      seen = now
      if (seconds < mostSeconds) return
      const told = Buffer.from(name).toString().replace(/\\0.*/s, '')
      writeSync(2, '\\nThis run is ended: for ' + mostSeconds + ' seconds, nothing but this test could run:\\n  ' + told + '\\n')
      process.kill(process.pid, 'SIGKILL')
    }, 1000)`,
    { eval: true, workerData: { turns, name, mostSeconds: MOST_SECONDS } },
  )
  watcher.unref()
  return (text) => {
    const { written } = new TextEncoder().encodeInto(text, name)
    name.fill(0, written)
  }
}

/** Once a worker, although it may load this file again for each test file. */
const shared = globalThis as { tellRunningTest?: (name: string) => void }
// A debugger may stop at a line for as long as it likes.
shared.tellRunningTest ??= debuggerUrl() === undefined ? watch() : () => {}
const tell = shared.tellRunningTest

const file = String(expect.getState().testPath)
tell(file)
beforeEach(({ task }) => {
  tell(`${file} > ${task.name}`)
  // Tests that wait for nothing but promises would keep the loop from turning, one after the other.
  return setImmediate()
})
