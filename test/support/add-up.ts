import type { WorkspaceAudit } from '../../lib/audit/audit-context.ts'
import { auditSum, beginSum, itemAdder, type UsageSum } from '../../lib/audit/audit-usage.ts'
import { NOTHING_AUDITED } from '../../lib/audit/findings.ts'
import { type Ports, WORKSPACE } from './ports.ts'

const { signal } = new AbortController()

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

/** Reads the rows as if there were a slice for each. */
export async function readRows({ documents }: Ports, begun: UsageSum): Promise<UsageSum> {
  let sum = begun
  for await (const row of documents.listItems(WORKSPACE, signal)) {
    sum = JSON.parse(JSON.stringify(itemAdder(sum)(sum, row))) as UsageSum
  }
  return sum
}

/** @param meanwhile done between the cut and the reading of the rows @returns nothing when the bytes add up */
export async function addUp(ports: Ports, meanwhile: () => Promise<unknown> = async () => {}, repair = false) {
  const { audit, said } = listenTo(ports, repair)
  const sum = await beginSum(audit)
  await meanwhile()
  await auditSum(await readRows(ports, sum), audit)
  return said
}

export const passBy = async (ports: Ports) => {
  const one = await ports.run(['take'])
  await ports.ledger.giveBack(one, signal)
}

/** Counts more bytes: a drift, if nothing holds them. */
export const countMore = (ports: Ports, bytes: number, workspaceId = WORKSPACE) => {
  const workspace = ports.ledger.workspaces.get(workspaceId)
  if (workspace) workspace.remainingBytes -= bytes
}
