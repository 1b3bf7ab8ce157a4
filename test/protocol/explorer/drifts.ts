import type { AuditOptions } from '../../../lib/audit/audit-context.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { FakeQuotaLedger } from '../../support/fakes/quota-ledger.ts'

/** What audits must find of drift, and nothing else: by how much each workspace's used bytes are wrong. */
export class Drifts {
  readonly #ledger: FakeQuotaLedger
  readonly #planted = new Map<WorkspaceId, number[]>()
  /** The sums of what was planted and corrected, one after the other. */
  readonly #sums = new Map<WorkspaceId, number[]>()
  readonly audits = { ended: 0, amidChanges: 0, notAddedUp: 0 }
  /** What an audit got wrong. */
  failure: string | undefined

  constructor(ledger: FakeQuotaLedger) {
    this.#ledger = ledger
    const { correct } = ledger
    ledger.correct = (workspaceId, ...args) => {
      const remaining = () => ledger.workspaces.get(workspaceId)?.remainingBytes ?? 0
      const before = remaining()
      // The fake has done it when it returns: nothing else is counted in.
      const corrected = correct(workspaceId, ...args)
      if (remaining() !== before) this.#checkCorrected(workspaceId, before - remaining())
      return corrected
    }
  }

  /** What a correction leaves was planted after the last of what it took away. */
  #checkCorrected(workspaceId: WorkspaceId, change: number): void {
    this.#add(workspaceId, change)
    const planted = this.#planted.get(workspaceId) ?? []
    const later = [...planted, 0].map((_, from) => planted.slice(from).reduce((sum, bytes) => sum + bytes, 0))
    const left = this.of(workspaceId)
    if (!later.includes(left)) this.failure ??= `${workspaceId}: a correction leaves ${left}, planted were ${planted}`
  }

  #add(workspaceId: WorkspaceId, bytes: number): void {
    this.#sums.set(workspaceId, [...(this.#sums.get(workspaceId) ?? [0]), this.of(workspaceId) + bytes])
  }

  plant(workspaceId: WorkspaceId, bytes: number): void {
    const workspace = this.#ledger.workspaces.get(workspaceId)
    if (!workspace) return
    workspace.remainingBytes -= bytes
    workspace.version++
    this.#planted.set(workspaceId, [...(this.#planted.get(workspaceId) ?? []), bytes])
    this.#add(workspaceId, bytes)
  }

  get wasPlanted(): boolean {
    return this.#planted.size > 0
  }

  of(workspaceId: WorkspaceId): number {
    return this.#sums.get(workspaceId)?.at(-1) ?? 0
  }

  /** The findings of an audit that repairs drift now, when nothing else goes on. */
  found(): object[] {
    return [...this.#ledger.workspaces].flatMap(([workspaceId, { quotaBytes, remainingBytes }]) => {
      const [drift, usedBytes] = [this.of(workspaceId), quotaBytes - remainingBytes]
      const finding = { workspaceId, kind: 'drift', usedBytes, expectedBytes: usedBytes - drift, isRepaired: true }
      return drift === 0 ? [] : [finding]
    })
  }

  /**
   * Runs an audit that repairs, and checks what it says: each workspace that it has added up had that drift, or none, at one
   * moment of the audit at least.
   * @param driftOnly whether all else that it could find is in order
   */
  async watch(run: (options: AuditOptions) => Promise<unknown>, driftOnly = false): Promise<void> {
    const found = new Map<WorkspaceId, number>()
    const notAddedUp = new Set<WorkspaceId>()
    const begun = [...this.#ledger.workspaces].map(([workspaceId, { version }]) => {
      return { workspaceId, version, sums: this.#sums.get(workspaceId)?.length ?? 1 }
    })
    await run({
      repair: true,
      deleteLostDocuments: true,
      onFinding: (finding) => {
        if (finding.kind === 'drift') found.set(finding.workspaceId, finding.usedBytes - finding.expectedBytes)
        else if (driftOnly) this.failure ??= `an audit finds what is in order: ${JSON.stringify(finding)}`
      },
      onNotAddedUp: ({ workspaceId }) => notAddedUp.add(workspaceId),
    })
    for (const { workspaceId, version, sums } of begun) {
      const drift = found.get(workspaceId) ?? 0
      const had = (this.#sums.get(workspaceId) ?? [0]).slice(sums - 1)
      this.audits.ended++
      if (this.#ledger.workspaces.get(workspaceId)?.version !== version) this.audits.amidChanges++
      if (notAddedUp.has(workspaceId)) this.audits.notAddedUp++
      else if (!had.includes(drift))
        this.failure ??= `${workspaceId}: the audit finds a drift of ${drift}, it had ${had}`
    }
  }
}
