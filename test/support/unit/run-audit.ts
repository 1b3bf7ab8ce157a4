import { expect } from 'vitest'
import { audit } from '../../../lib/audit/audit.ts'
import type { AuditDependencies, AuditOptions } from '../../../lib/audit/audit-context.ts'
import { newShards, sumOf } from '../../../lib/audit/audit-shard.ts'
import { auditShard } from '../../../lib/audit/audit-slice.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { type Ports, signal, WORKSPACE } from '../ports.ts'

/** Audits all workspaces of the ports, unless the options name one. */
export async function runAudit(
  { deps }: Pick<Ports, 'deps'>,
  repair = false,
  change: Partial<AuditDependencies> = {},
  { workspaceId, ...options }: Partial<AuditOptions & { workspaceId: WorkspaceId }> = {},
) {
  const findings: Finding[] = []
  const notAddedUp: object[] = []
  const auditOptions: AuditOptions = {
    repair,
    deleteLostDocuments: repair,
    onFinding: (finding) => findings.push(finding),
    onNotAddedUp: (workspace) => notAddedUp.push(workspace),
    ...options,
  }
  const changed = { ...deps, ...change }
  const report = workspaceId
    ? await audit({ ...auditOptions, workspaceId }, changed, signal)
    : await auditAll(auditOptions, changed)
  return { report, findings, notAddedUp }
}

async function auditAll(options: AuditOptions, deps: AuditDependencies) {
  let [shard] = newShards({ roundId: 'audit', startedAtMs: deps.now(), totalShards: 1 })
  if (shard) for await (shard of auditShard(shard, options, deps, signal));
  return sumOf(shard ? [shard] : [])
}

/** Expects these to be found, found again, repaired, and then gone. */
export async function expectMended(ports: Ports, ...expected: object[]) {
  const found = (isRepaired: boolean) => expected.map((finding) => ({ workspaceId: WORKSPACE, isRepaired, ...finding }))
  expect((await runAudit(ports)).findings).toMatchObject(found(false))
  expect((await runAudit(ports, true)).findings).toMatchObject(found(true))
  expect((await runAudit(ports)).findings).toEqual([])
}
