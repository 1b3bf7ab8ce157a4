import type { AuditOptions } from './audit-workspace.ts'
import type { AuditCounters, Finding } from './findings.ts'

type WithoutRepair<Type> = Type extends unknown ? Omit<Type, 'isRepaired'> : never

/** @param repair resolves to false when it was not possible now; undefined: only people can repair it */
export async function reportFinding(
  finding: WithoutRepair<Finding>,
  { options, counters }: { options: AuditOptions; counters: AuditCounters },
  repair: (() => Promise<unknown>) | undefined,
): Promise<void> {
  const isRepaired = options.repair && repair !== undefined && (await repair()) !== false
  counters.findings++
  if (isRepaired) counters.repaired++
  options.onFinding({ ...finding, isRepaired } as Finding)
}
