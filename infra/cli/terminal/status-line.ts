import { clearLine, cursorTo } from 'node:readline'
import type { TextOutput } from './terminal.ts'

const REDRAW_MS = 100
/** Width of a terminal that does not report one. */
const DEFAULT_COLUMNS = 80
const BAR_CELLS = 20

/** One line that shows how far a long task has come, redrawn in place. On a terminal only: a log would fill with it. */
export function createStatusLine(stream: TextOutput) {
  let shownAtMs = 0
  /** Makes room for a line of output; the next text comes back below it. */
  const clear = () => {
    if (shownAtMs === 0) return
    cursorTo(stream, 0)
    clearLine(stream, 0)
    shownAtMs = 0
  }
  return {
    show(text: string) {
      if (!stream.isTTY || Date.now() - shownAtMs < REDRAW_MS) return
      clear()
      // A wrapped line could not be cleared.
      stream.write(text.slice(0, (stream.columns || DEFAULT_COLUMNS) - 1))
      shownAtMs = Date.now()
    },
    clear,
  }
}

/** `[#####---------------] 12 MiB of about 50 MiB`; without the bar when the total is unknown. */
export function progressBar(done: number, expected: number, show: (count: number) => string): string {
  if (expected <= 0) return show(done)
  const filled = Math.floor(Math.min(1, done / expected) * BAR_CELLS)
  const bar = '#'.repeat(filled).padEnd(BAR_CELLS, '-')
  return `[${bar}] ${show(done)} of about ${show(Math.max(done, expected))}`
}
