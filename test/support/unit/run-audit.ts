import { expect } from 'vitest'
import { audit } from '../../../lib/audit/audit.ts'
import type { AuditDependencies } from '../../../lib/audit/audit-context.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import { type Ports, WORKSPACE } from '../ports.ts'

const { signal } = new AbortController()

/** Audits all workspaces of the ports, unless the options name one. */
export async function runAudit(
  { deps }: Pick<Ports, 'deps'>,
  repair = false,
  change: Partial<AuditDependencies> = {},
  options: Partial<Parameters<typeof audit>[0]> = {},
) {
  const findings: Finding[] = []
  const notAddedUp: object[] = []
  const report = await audit(
    {
      repair,
      deleteLostDocuments: repair,
      onFinding: (finding) => findings.push(finding),
      onNotAddedUp: (workspace) => notAddedUp.push(workspace),
      ...options,
    },
    { ...deps, ...change },
    signal,
  )
  return { report, findings, notAddedUp }
}

/** Expects these to be found, found again, repaired, and then gone. */
export async function expectMended(ports: Ports, ...expected: object[]) {
  const found = (isRepaired: boolean) => expected.map((finding) => ({ workspaceId: WORKSPACE, isRepaired, ...finding }))
  expect((await runAudit(ports)).findings).toMatchObject(found(false))
  expect((await runAudit(ports, true)).findings).toMatchObject(found(true))
  expect((await runAudit(ports)).findings).toEqual([])
}
