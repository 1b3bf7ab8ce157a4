import { connect, type Stores, useLocalService } from '../../../infra/cli/connect.ts'
import { audit } from '../../../lib/audit/audit.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import { formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import type { DueKind } from '../../../lib/ledger/ports/documents.ts'
import { type ResolverReport, resolveDueItems } from '../../../lib/ledger/resolve-due-items.ts'
import type { OwnService } from './services.ts'

const SILENT = { info() {}, warn() {}, error() {}, with: () => SILENT }
const HOUR_MS = 3_600_000
/** Never aborted, however busy the machine is. */
const signal = AbortSignal.timeout(HOUR_MS)

/** A workspace with one file and several keys, so that no rate limit stands in the way. */
export async function stormyWorkspace(
  { newKey, putFile, newWorkspaceId }: OwnService,
  { workspaces }: Stores,
  { quotaBytes, keys, bytes }: { quotaBytes: number; keys: number; bytes: Buffer },
): Promise<{ workspaceId: WorkspaceId; tokens: string[] }> {
  const workspaceId = newWorkspaceId()
  const tokens = await Promise.all(Array.from({ length: keys }, () => newKey(workspaceId)))
  await workspaces.create(workspaceId, { quotaBytes }, signal)
  await putFile(workspaceId, 'sess_1', 'a.bin', bytes)
  return { workspaceId, tokens }
}

/** @returns undefined when the connection broke */
async function ask(url: string, token: string, init: RequestInit = {}, headers: Record<string, string> = {}) {
  try {
    const response = await fetch(url, { ...init, headers: { authorization: `Bearer ${token}`, ...headers } })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  } catch {
    return undefined
  }
}

export async function promote(baseUrl: string, token: string, headers: Record<string, string> = {}) {
  const url = `${baseUrl}/containers/sess_1/files/${formatFileId('a.bin')}/promote`
  const answer = await ask(url, token, { method: 'POST' }, headers)
  return answer && { status: answer.status, id: answer.body.id as string | undefined }
}

/** @returns status of the answer */
export const remove = async (baseUrl: string, token: string, id: string) =>
  (await ask(`${baseUrl}/files/${id}`, token, { method: 'DELETE' }))?.status

/** @returns the ids of all pages; undefined when the connection broke, or a page was refused */
export async function list(baseUrl: string, token: string): Promise<string[] | undefined> {
  const ids: string[] = []
  for (let next = ''; ; ) {
    const answer = await ask(`${baseUrl}/files?limit=50${next}`, token)
    if (answer?.status !== 200) return undefined
    const { data, cursor } = answer.body as { data: { id: string }[]; cursor: string | null }
    ids.push(...data.map(({ id }) => id))
    if (cursor === null) return ids
    next = `&cursor=${cursor}`
  }
}

/** Everything that the administration has of a local service. */
export const storesOf = async (directory: string) => connect(await useLocalService(directory))

/** The resolver's run at a later time. */
export async function resolveLater(stores: Stores, afterMs: number, kind: DueKind = 'work'): Promise<ResolverReport> {
  const deps = { ...stores, now: () => Date.now() + afterMs, log: SILENT }
  return resolveDueItems(kind, { timeoutEachMs: 60_000 }, deps, signal)
}

/** The same, of expired documents. */
export const expireLater = (stores: Stores, afterMs: number) => resolveLater(stores, afterMs, 'expiry')

/** The audit's findings once S3 can no longer write anything either. */
export async function auditAtLast(stores: Stores, workspaceId: WorkspaceId) {
  await resolveLater(stores, HOUR_MS)
  // By then, all that was on its way when those were undone has arrived.
  await resolveLater(stores, 2 * HOUR_MS)
  const deps = { ...stores, now: () => Date.now() + 2 * HOUR_MS, log: SILENT }
  const findings: Finding[] = []
  const onFinding = (finding: Finding) => void findings.push(finding)
  const options = { repair: false, deleteLostDocuments: false, workspaceId, onFinding }
  const report = await audit(options, deps, signal)
  return { findings, report }
}
