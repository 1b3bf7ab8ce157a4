import type { AuditOptions } from '../../../lib/audit/audit-context.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { FakeQuotaLedger } from '../../support/fakes/quota-ledger.ts'

/** By how much each workspace's used bytes were wrong, from the first moment on: what audits must find, and nothing else. */
export class Drifts {
  readonly #ledger: FakeQuotaLedger
  readonly #planted = new Map<WorkspaceId, number[]>()
  readonly #values = new Map<WorkspaceId, number[]>()
  readonly audits = { ended: 0, amidChanges: 0, notAddedUp: 0, drifts: 0 }
  wasPlanted = false
  /** What an audit got wrong. */
  failure: string | undefined

  constructor(ledger: FakeQuotaLedger) {
    this.#ledger = ledger
    const { correct } = ledger
    ledger.correct = (workspaceId, ...args) => {
      const before = this.#remaining(workspaceId)
      // The fake has done it when it returns: nothing else is counted in.
      const corrected = correct(workspaceId, ...args)
      this.#change(workspaceId, before - this.#remaining(workspaceId))
      if (before !== this.#remaining(workspaceId)) this.#checkCorrected(workspaceId)
      return corrected
    }
  }

  /** What a correction leaves was planted after the last of what it took away. */
  #checkCorrected(workspaceId: WorkspaceId): void {
    const planted = this.#planted.get(workspaceId) ?? []
    const later = [...planted, 0].map((_, from) => planted.slice(from).reduce((sum, bytes) => sum + bytes, 0))
    const left = this.of(workspaceId)
    if (!later.includes(left)) this.failure ??= `${workspaceId}: a correction leaves ${left}, planted were ${planted}`
  }

  #remaining(workspaceId: WorkspaceId): number {
    return this.#ledger.workspaces.get(workspaceId)?.remainingBytes ?? 0
  }

  #valuesOf(workspaceId: WorkspaceId): number[] {
    const values = this.#values.get(workspaceId) ?? [0]
    this.#values.set(workspaceId, values)
    return values
  }

  #change(workspaceId: WorkspaceId, bytes: number): void {
    if (bytes !== 0) this.#valuesOf(workspaceId).push(this.of(workspaceId) + bytes)
  }

  plant(workspaceId: WorkspaceId, bytes: number): void {
    const workspace = this.#ledger.workspaces.get(workspaceId)
    if (!workspace) return
    workspace.remainingBytes -= bytes
    workspace.version++
    this.wasPlanted = true
    this.#planted.set(workspaceId, [...(this.#planted.get(workspaceId) ?? []), bytes])
    this.#change(workspaceId, bytes)
  }

  of(workspaceId: WorkspaceId): number {
    return this.#valuesOf(workspaceId).at(-1) ?? 0
  }

  /** The findings of an audit that repairs drift now, when nothing else goes on. */
  found(): object[] {
    return [...this.#ledger.workspaces].flatMap(([workspaceId, { quotaBytes, remainingBytes }]) => {
      const usedBytes = quotaBytes - remainingBytes
      const expectedBytes = usedBytes - this.of(workspaceId)
      return usedBytes === expectedBytes
        ? []
        : [{ workspaceId, kind: 'drift', usedBytes, expectedBytes, isRepaired: true }]
    })
  }

  /**
   * Runs an audit, and checks what it says of drift: each workspace that it has added up had that drift, or none, at one
   * moment of the audit at least.
   */
  async watch(run: (options: Pick<AuditOptions, 'onFinding' | 'onNotAddedUp'>) => Promise<unknown>) {
    const found = new Map<WorkspaceId, number>()
    const notAddedUp = new Set<WorkspaceId>()
    const begun = [...this.#ledger.workspaces].map(([workspaceId, { version }]) => {
      return { workspaceId, version, values: this.#valuesOf(workspaceId).length - 1 }
    })
    await run({
      onFinding(finding) {
        if (finding.kind === 'drift') found.set(finding.workspaceId, finding.usedBytes - finding.expectedBytes)
      },
      onNotAddedUp: ({ workspaceId }) => notAddedUp.add(workspaceId),
    })
    for (const { workspaceId, version, values } of begun) {
      if (this.#ledger.workspaces.get(workspaceId)?.version !== version) this.audits.amidChanges++
      this.audits.ended++
      if (notAddedUp.has(workspaceId)) {
        this.audits.notAddedUp++
        continue
      }
      const drift = found.get(workspaceId) ?? 0
      if (drift !== 0) this.audits.drifts++
      const had = this.#valuesOf(workspaceId).slice(values)
      if (!had.includes(drift)) this.failure ??= `${workspaceId}: the audit finds a drift of ${drift}, it had ${had}`
    }
  }
}
