import { asSeconds, atMost, type Bench, type Row } from '../bench.ts'
import { startContentionSimulator } from '../simulator/start.ts'

const FILES = 100
const [NEW_SECONDS_BAR, SAME_SECONDS_BAR, CALLS_BAR] = [3, 1, 6]

/** AWS is as in `contention`, on the same virtual clock: our own time is not in it. */
export const manyFiles: Bench = {
  name: 'many-files',
  title: 'One request for 100 files of 4 KiB',
  isExact: true,
  async run() {
    const simulator = await startContentionSimulator()
    const [first, again, restored] = await simulator.call('promoteMany', { files: FILES })
    await simulator.stop()
    const asExpected = first?.outcomes.promoted === FILES && again?.outcomes.kept === FILES
    if (!asExpected || restored?.outcomes.restored !== FILES) {
      throw new Error(`not all were promoted, kept and put back: ${JSON.stringify([first, again, restored])}`)
    }
    const written = Object.entries(again.writes).map(([table, writes]) => `${writes} of ${table}`)
    const bar = '1 of rate-limits'
    const nothingElse: Row = {
      what: 'writes of the same again',
      bar,
      measured: written.join(),
      isMet: written.join() === bar,
    }
    return [
      atMost('new files', NEW_SECONDS_BAR, first.seconds, asSeconds),
      atMost('calls a file', CALLS_BAR, first.calls / FILES, (calls) => calls.toFixed(2)),
      atMost('the same again, unchanged', SAME_SECONDS_BAR, again.seconds, asSeconds),
      nothingElse,
      atMost('put back into another container', NEW_SECONDS_BAR, restored.seconds, asSeconds),
    ]
  },
}
