import { randomBytes } from 'node:crypto'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import type { ContainerId, FilePath, WorkspaceId } from '../../../lib/ids.ts'
import type { Stores } from '../connect.ts'
import { describeFailure } from '../describe-failure.ts'
import { CHECKS, type SmokeCheck } from './checks.ts'
import { NotChecked, type SmokeContext, SmokeProblem } from './context.ts'
import { TELEMETRY_CHECKS } from './telemetry.ts'
import { newTrialKey, setUpTrial, tearDownTrial } from './trial.ts'

export interface SmokeResult {
  check: string
  verdict: 'ok' | 'problem' | 'not_checked'
  /** What was seen, or what is wrong. */
  detail: string
  durationMs: number
}

interface SmokeOptions {
  stores: Stores
  baseUrl: string
  /** Whether logs and metrics are to be looked for: there are none of the local service. */
  hasTelemetry: boolean
  onResult(result: SmokeResult): void
  /** Ends the run after the current check. Everything that was made is still removed. */
  signal: AbortSignal
}

const CHECK_TIMEOUT_MS = 60_000
/** Longer than telemetry.ts waits. */
const TELEMETRY_TIMEOUT_MS = 200_000
const CLEARING_TIMEOUT_MS = 120_000

/** Runs every check in a workspace of its own, and removes that again, also after a failed check or Ctrl-C. */
export async function runSmoke({ hasTelemetry, onResult, signal, ...options }: SmokeOptions): Promise<void> {
  const context = newContext(options)
  const run = async (check: SmokeCheck, limit: AbortSignal) => {
    signal.throwIfAborted()
    const result = await timed(check, context, limit)
    onResult(result)
    return result.verdict
  }
  // Not interrupted by Ctrl-C: an abandoned promotion would go on and finish after the cleanup.
  const toTheEnd = () => AbortSignal.timeout(CHECK_TIMEOUT_MS)
  try {
    const settling: SmokeCheck = { name: 'workspace, key and files', look: (_, limit) => settle(context, limit) }
    // Without them, every other check would fail the same way.
    if ((await run(settling, toTheEnd())) === 'problem') return
    for (const check of CHECKS) await run(check, toTheEnd())
    for (const check of hasTelemetry ? TELEMETRY_CHECKS : []) {
      await run(check, AbortSignal.any([signal, AbortSignal.timeout(TELEMETRY_TIMEOUT_MS)]))
    }
  } finally {
    const clearing: SmokeCheck = { name: 'everything is gone', look: (_, limit) => clear(context, limit) }
    onResult(await timed(clearing, context, AbortSignal.timeout(CLEARING_TIMEOUT_MS)))
  }
}

async function settle(context: SmokeContext, signal: AbortSignal): Promise<string> {
  await setUpTrial(context, signal)
  const keyIds = context.keys.map(({ keyId }) => keyId).join(', ')
  return `${context.workspaceId}, ${keyIds}, ${Object.keys(context.files).length} files`
}

async function clear(context: SmokeContext, signal: AbortSignal): Promise<string> {
  const left = await tearDownTrial(context, signal)
  if (left.length > 0) throw new SmokeProblem(`left behind: ${left.join('; ')}`)
  return 'workspace, key, files and documents were removed'
}

async function timed({ name, look }: SmokeCheck, context: SmokeContext, signal: AbortSignal): Promise<SmokeResult> {
  const startedAtMs = performance.now()
  const outcome = await look(context, signal).then(
    (detail) => ({ verdict: 'ok', detail }) as const,
    (error) => {
      const verdict = error instanceof NotChecked ? 'not_checked' : 'problem'
      const isOurs = error instanceof NotChecked || error instanceof SmokeProblem
      return { verdict, detail: isOurs ? error.message : describeFailure(causeOf(error)).message } as const
    },
  )
  return { check: name, ...outcome, durationMs: Math.round(performance.now() - startedAtMs) }
}

/** fetch says "fetch failed", and the reason in its cause. */
const causeOf = (error: unknown) => (error instanceof TypeError && error.cause ? error.cause : error)

function newContext({ stores, baseUrl }: Pick<SmokeOptions, 'stores' | 'baseUrl'>): SmokeContext {
  const run = randomBytes(6).toString('hex')
  const key = newTrialKey()
  const { config } = stores
  const largeBytes = Math.max(config.multipartThresholdBytes + 1, 2 * config.minPartBytes)
  const file = (path: string, bytes: Buffer) => ({ path: path as FilePath, bytes })
  // The SDK's own retries are wanted here: every call may be repeated.
  const settings = { maxAttempts: 3 }
  const files = {
    small: file('smoke/small.txt', Buffer.from(`smoke ${run}\n`)),
    oddlyNamed: file('smoke/Übung 100% (a+b) %2F ☃.txt', Buffer.from(`odd ${run}\n`)),
    large: file('smoke/large.bin', randomBytes(largeBytes)),
  }
  return {
    stores,
    baseUrl: baseUrl.replace(/\/$/, ''),
    s3: createS3Client({ ...settings, forcePathStyle: config.s3ForcePathStyle }),
    dynamoDb: createDynamoDbClient(settings),
    workspaceId: `ws_smoke_${run}` as WorkspaceId,
    containerId: `sess_smoke-${run}` as ContainerId,
    files,
    roomBytes: Object.values(files).reduce((sum, { bytes }) => sum + 2 * bytes.length, 0),
    keys: [key],
    token: key.token,
    userId: 'smoke',
    documents: new Map(),
    requestIds: [],
    startedAtMs: Date.now(),
  }
}
