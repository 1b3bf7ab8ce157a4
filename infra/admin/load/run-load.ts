import { randomBytes } from 'node:crypto'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import type { ContainerId, FilePath, WorkspaceId } from '../../../lib/ids.ts'
import { audit } from '../../../lib/maintenance/audit.ts'
import { clearingUp } from '../clearing-up.ts'
import type { Stores } from '../connect.ts'
import { promotePath } from '../smoke/http.ts'
import { newTrialKey, setUpTrial, type TrialFile, type TrialWorkspace, tearDownTrial } from '../smoke/trial.ts'
import { generateLoad, type LoadResult } from './generate.ts'

export interface LoadOptions {
  stores: Stores
  baseUrl: string
  /** Promotions a second. */
  rate: number
  durationMs: number
  sizeBytes: number
  onProgress(text: string): void
  /** Ends the load. Everything that was made is still removed. */
  signal: AbortSignal
}

export interface LoadReport extends LoadResult {
  /** State of the workspace afterwards, and what the audit found. */
  documents: number
  findings: number
  /** What could not be removed, one line each. */
  left: string[]
}

const CLEARING_TIMEOUT_MS = 15 * 60_000

/**
 * Loads the service with promotions in a workspace of its own, audits that, and removes it again.
 * @throws CommandError that names what is left, when it failed half way and could not remove everything either
 */
export async function runLoad(options: LoadOptions): Promise<LoadReport> {
  const trial = newTrial(options)
  const clear = () => {
    options.onProgress('removing what was made')
    return tearDownTrial(trial, AbortSignal.timeout(CLEARING_TIMEOUT_MS))
  }
  return clearingUp(() => loadAndAudit(trial, options), clear)
}

async function loadAndAudit(trial: Trial, { stores, baseUrl, onProgress, signal, ...plan }: LoadOptions) {
  onProgress('making a workspace, keys and a file')
  await setUpTrial(trial, signal)
  const { workspaceId, keys, files } = trial
  const url = `${baseUrl.replace(/\/$/, '')}${promotePath(files.load, trial)}`
  const tokens = keys.map(({ token }) => token)
  const result = await generateLoad(
    { ...plan, url, tokens },
    (answered) => onProgress(`${answered} promotions answered`),
    signal,
  )
  signal.throwIfAborted()
  onProgress('auditing')
  const look = { repair: false, deleteLostDocuments: false, workspaceId, onFinding() {} }
  const { documents, findings } = await audit(look, stores, signal)
  return { ...result, documents, findings }
}

interface Trial extends TrialWorkspace {
  files: { load: TrialFile }
}

function newTrial({ stores, rate, durationMs, sizeBytes }: LoadOptions): Trial {
  const run = randomBytes(6).toString('hex')
  const { config } = stores
  const promotions = Math.ceil((rate * durationMs) / 1000)
  // As many as needed for each to stay below its rate limit: the service is tested, not that limit.
  const keyCount = Math.ceil((1.5 * 60 * rate) / config.rateLimit.requestsPerMinute)
  return {
    stores,
    s3: createS3Client({ maxAttempts: 3, forcePathStyle: config.s3ForcePathStyle }),
    dynamoDb: createDynamoDbClient({ maxAttempts: 3 }),
    workspaceId: `ws_load_${run}` as WorkspaceId,
    containerId: `sess_load-${run}` as ContainerId,
    files: { load: { path: 'load/file.bin' as FilePath, bytes: randomBytes(sizeBytes) } },
    keys: Array.from({ length: keyCount }, newTrialKey),
    // Some failed promotions stay counted until they are undone.
    roomBytes: 2 * promotions * sizeBytes,
    userId: 'load',
    startedAtMs: Date.now(),
  }
}
