// Apart from sustained.ts, which installs the virtual clock.

/** As in serverless.yml. */
export const AUDIT = { memoryMib: 512, sliceMs: 240_000 }
export const RESOLVER = { memoryMib: 1769, timeoutMs: 55_000, groups: 8 }
/** The part of a function's time that is kept back (lib/deadline.ts). */
export const KEPT_MS = 2500
