import type { ApiKeyAdministration } from '../auth/api-key-administration.ts'
import { PERMISSIONS } from '../auth/caller.ts'
import type { WorkspaceId } from '../ids.ts'

export interface KeyFinding {
  kind: 'unknown_permission'
  keyId: string
  workspaceId: WorkspaceId
  /** The unknown ones. */
  permissions: string[]
}

interface KeyReport {
  keys: number
  /** Enabled standard keys without any permission, whether on purpose or by mistake. */
  withoutPermission: number
  findings: number
}

/**
 * Looks for misspelt permissions in keys that were written by hand. Repairs nothing: only the key's owner knows what
 * was meant.
 * @param options.workspaceId omitted: the keys of all workspaces
 */
export async function auditKeys(
  { workspaceId, onFinding }: { workspaceId?: WorkspaceId | undefined; onFinding(finding: KeyFinding): void },
  { apiKeys }: { apiKeys: Pick<ApiKeyAdministration, 'list'> },
  signal: AbortSignal,
): Promise<KeyReport> {
  const report: KeyReport = { keys: 0, withoutPermission: 0, findings: 0 }
  for await (const key of apiKeys.list(workspaceId === undefined ? {} : { workspaceId }, signal)) {
    const unknown = key.permissions.filter((word) => !PERMISSIONS.some((known) => known === word))
    report.keys++
    if (key.kind === 'standard' && key.isEnabled && key.permissions.length === unknown.length)
      report.withoutPermission++
    if (unknown.length === 0) continue
    report.findings++
    onFinding({ kind: 'unknown_permission', keyId: key.keyId, workspaceId: key.workspaceId, permissions: unknown })
  }
  return report
}

export function explainKeyFinding({ keyId, permissions }: KeyFinding): string {
  return `key ${keyId} has ${permissions.map((word) => `"${word}"`).join(', ')}, which is no permission`
}
