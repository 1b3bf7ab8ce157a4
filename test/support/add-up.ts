import { beginUsage, endUsage, type UsageState, usageSum } from '../../lib/maintenance/audit-usage.ts'
import { type Ports, WORKSPACE } from './ports.ts'

const { signal } = new AbortController()

export const begin = ({ deps }: Ports) => beginUsage(WORKSPACE, deps, signal)

/** As if there were a slice for each row. */
export async function readRows({ documents }: Ports, state: UsageState): Promise<UsageState> {
  let current = state
  for await (const row of documents.listRows(WORKSPACE, signal)) {
    current = JSON.parse(JSON.stringify(current)) as UsageState
    usageSum(current).add(row)
  }
  return current
}

/** @param meanwhile done between the cut and the reading of the rows */
export async function addUp(ports: Ports, meanwhile: () => Promise<unknown> = async () => {}) {
  const state = await begin(ports)
  await meanwhile()
  return endUsage(await readRows(ports, state), ports.deps, signal)
}

export const passBy = async (ports: Ports) => {
  const one = await ports.run(['take'])
  await ports.ledger.release(one, signal)
}
/** A drift, if nothing holds these bytes. */
export const countMore = (ports: Ports, bytes: number, workspaceId = WORKSPACE) => {
  const workspace = ports.ledger.workspaces.get(workspaceId)
  if (workspace) workspace.remainingBytes -= bytes
}
