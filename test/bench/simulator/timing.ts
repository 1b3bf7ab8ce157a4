/** Node's timers are exact to a millisecond or two: the rest is waited for by going round the event loop. */
const SPIN_MS = 2

interface Pending {
  dueMs: number
  resolve(): void
}

const pending: Pending[] = []
let cancelScheduled = () => {}

/** Waits by performance.now(), to some hundredths of a millisecond as long as the process has a core for itself. */
export function waitUntil(dueMs: number): Promise<void> {
  return new Promise((resolve) => {
    const position = pending.findLastIndex((other) => other.dueMs <= dueMs) + 1
    pending.splice(position, 0, { dueMs, resolve })
    if (position === 0) schedule()
  })
}

/** For the first of those that wait, instead of whatever was scheduled before. */
function schedule(): void {
  cancelScheduled()
  const [first] = pending
  if (first === undefined) return
  const leftMs = first.dueMs - performance.now()
  if (leftMs > SPIN_MS) {
    const timer = setTimeout(release, leftMs - SPIN_MS)
    cancelScheduled = () => clearTimeout(timer)
  } else {
    const immediate = setImmediate(release)
    cancelScheduled = () => clearImmediate(immediate)
  }
}

function release(): void {
  cancelScheduled = () => {}
  const nowMs = performance.now()
  while (pending[0] !== undefined && pending[0].dueMs <= nowMs) pending.shift()?.resolve()
  schedule()
}
