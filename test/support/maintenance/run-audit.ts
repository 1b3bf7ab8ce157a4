import { audit } from '../../../lib/maintenance/audit.ts'
import type { AuditDependencies } from '../../../lib/maintenance/audit-workspace.ts'
import type { Finding } from '../../../lib/maintenance/findings.ts'
import type { Ports } from '../ports.ts'

const { signal } = new AbortController()

/** Audits all workspaces of the ports. */
export async function runAudit({ deps }: Pick<Ports, 'deps'>, repair = false, change: Partial<AuditDependencies> = {}) {
  const findings: Finding[] = []
  const notAddedUp: object[] = []
  const report = await audit(
    {
      repair,
      deleteLostDocuments: repair,
      onFinding: (finding) => findings.push(finding),
      onNotAddedUp: (workspace) => notAddedUp.push(workspace),
    },
    { ...deps, ...change },
    signal,
  )
  return { report, findings, notAddedUp }
}
