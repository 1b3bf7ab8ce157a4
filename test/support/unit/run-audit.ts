import { audit } from '../../../lib/audit/audit.ts'
import type { AuditDependencies } from '../../../lib/audit/audit-context.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
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
