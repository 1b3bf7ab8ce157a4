import type { Finding } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { FakeQuotaLedger } from '../../support/fakes/quota-ledger.ts'

/** By how much a workspace's used bytes were wrong: what was planted, and the sum at each moment. */
interface History {
  planted: number[]
  values: number[]
}

/** What audits must find of drift, and nothing else. */
export class Drifts {
  readonly #ledger: FakeQuotaLedger
  readonly #histories = new Map<WorkspaceId, History>()
  readonly audits = { ended: 0, amidChanges: 0, notAddedUp: 0 }
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
      const change = before - this.#remaining(workspaceId)
      if (change !== 0) this.#checkCorrected(workspaceId, change)
      return corrected
    }
  }

  #remaining(workspaceId: WorkspaceId): number {
    return this.#ledger.workspaces.get(workspaceId)?.remainingBytes ?? 0
  }

  /** What a correction leaves was planted after the last of what it took away. */
  #checkCorrected(workspaceId: WorkspaceId, change: number): void {
    const { planted, values } = this.#historyOf(workspaceId)
    const left = this.of(workspaceId) + change
    values.push(left)
    const later = [...planted, 0].map((_, from) => planted.slice(from).reduce((sum, bytes) => sum + bytes, 0))
    if (!later.includes(left)) this.failure ??= `${workspaceId}: a correction leaves ${left}, planted were ${planted}`
  }

  #historyOf(workspaceId: WorkspaceId): History {
    const history = this.#histories.get(workspaceId) ?? { planted: [], values: [0] }
    this.#histories.set(workspaceId, history)
    return history
  }

  plant(workspaceId: WorkspaceId, bytes: number): void {
    const workspace = this.#ledger.workspaces.get(workspaceId)
    if (!workspace) return
    workspace.remainingBytes -= bytes
    workspace.version++
    this.wasPlanted = true
    const { planted, values } = this.#historyOf(workspaceId)
    planted.push(bytes)
    values.push(this.of(workspaceId) + bytes)
  }

  of(workspaceId: WorkspaceId): number {
    return this.#histories.get(workspaceId)?.values.at(-1) ?? 0
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
   * Runs an audit, and checks what it says of drift: each workspace that it has added up had that drift, or none, at one
   * moment of the audit at least.
   */
  async watch(
    run: (listener: {
      onFinding(finding: Finding): void
      onNotAddedUp(workspace: { workspaceId: WorkspaceId }): void
    }) => Promise<unknown>,
  ): Promise<void> {
    const found = new Map<WorkspaceId, number>()
    const notAddedUp = new Set<WorkspaceId>()
    const begun = [...this.#ledger.workspaces].map(([workspaceId, { version }]) => {
      return { workspaceId, version, moment: this.#historyOf(workspaceId).values.length - 1 }
    })
    await run({
      onFinding(finding) {
        if (finding.kind === 'drift') found.set(finding.workspaceId, finding.usedBytes - finding.expectedBytes)
      },
      onNotAddedUp: ({ workspaceId }) => notAddedUp.add(workspaceId),
    })
    for (const { workspaceId, version, moment } of begun) {
      this.audits.ended++
      if (this.#ledger.workspaces.get(workspaceId)?.version !== version) this.audits.amidChanges++
      if (notAddedUp.has(workspaceId)) {
        this.audits.notAddedUp++
        continue
      }
      const drift = found.get(workspaceId) ?? 0
      const had = this.#historyOf(workspaceId).values.slice(moment)
      if (!had.includes(drift)) this.failure ??= `${workspaceId}: the audit finds a drift of ${drift}, it had ${had}`
    }
  }
}
