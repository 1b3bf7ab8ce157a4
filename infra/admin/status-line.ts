import { clearLine, cursorTo } from 'node:readline'
import type { TextOutput } from './terminal.ts'

const REDRAW_MS = 100
/** Width of a terminal that does not report one. */
const DEFAULT_COLUMNS = 80

export interface StatusLine {
  show(text: string): void
  /** Makes room for a line of output; the next text comes back below it. */
  clear(): void
}

/**
 * One line that tells how far a long work is, redrawn in its place. Only on a terminal: in a log it would be noise.
 */
export function createStatusLine(stream: TextOutput): StatusLine {
  let shownAtMs = 0
  const clear = () => {
    if (shownAtMs === 0) return
    cursorTo(stream, 0)
    clearLine(stream, 0)
    shownAtMs = 0
  }
  return {
    show(text) {
      if (!stream.isTTY || Date.now() - shownAtMs < REDRAW_MS) return
      clear()
      // A wrapped line could not be cleared.
      stream.write(text.slice(0, (stream.columns || DEFAULT_COLUMNS) - 1))
      shownAtMs = Date.now()
    },
    clear,
  }
}
