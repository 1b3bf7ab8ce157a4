import type { WorkspaceAudit } from '../../lib/audit/audit-context.ts'
import { addItem, auditSum, beginSum, type UsageSum } from '../../lib/audit/audit-usage.ts'
import { NOTHING_AUDITED } from '../../lib/audit/findings.ts'
import type { StoredItem } from '../../lib/audit/ports/document-maintenance.ts'
import { type Ports, signal, WORKSPACE } from './ports.ts'

/** @returns an audit of the workspace, and what it found: by how many bytes it drifts, or why that is unknown */
export function listenTo({ deps }: Pick<Ports, 'deps'>, repair = false) {
  const said: (number | string)[] = []
  const audit: WorkspaceAudit = {
    workspaceId: WORKSPACE,
    counters: { ...NOTHING_AUDITED },
    options: {
      repair,
      deleteLostDocuments: false,
      onFinding(finding) {
        if (finding.kind === 'drift') said.push(finding.usedBytes - finding.expectedBytes)
      },
      onNotAddedUp: ({ reason }) => said.push(reason),
    },
    deps,
    signal,
  }
  return { audit, said }
}

export const cut = async ({ ledger, clock }: Ports) => beginSum(await ledger.read(WORKSPACE, signal), clock.nowMs)

/** As if a slice ended behind each item. @param meanwhile done then */
export async function readItems({ documents }: Ports, begun: UsageSum, meanwhile = async (_item: StoredItem) => {}) {
  let sum = begun
  for (let after: string | undefined, isOver = false; !isOver; ) {
    isOver = true
    for await (const item of documents.list(WORKSPACE, signal, { after })) {
      sum = JSON.parse(JSON.stringify(addItem(sum, item)))
      after = item.itemId
      await meanwhile(item)
      isOver = false
      break
    }
  }
  return sum
}

/** @param meanwhile done between the cut and the reading of the items @returns nothing when the bytes add up */
export async function addUp(ports: Ports, meanwhile: () => Promise<unknown> = async () => {}, repair = false) {
  const { audit, said } = listenTo(ports, repair)
  const sum = await cut(ports)
  await meanwhile()
  await auditSum(await readItems(ports, sum), audit)
  return said
}

export const passBy = async (ports: Ports) => {
  const one = await ports.run(['hold'])
  await ports.ledger.void(one, signal)
}

/** Counts more bytes: a drift, if nothing holds them. */
export const countMore = async ({ stored }: Ports, bytes: number, workspaceId = WORKSPACE) => {
  const { quotaBytes = 0, usedBytes = 0 } = stored.ledgerOf(workspaceId) ?? {}
  await stored.setUsage(workspaceId, { quotaBytes, usedBytes: usedBytes + bytes })
}
