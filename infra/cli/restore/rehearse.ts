import {
  DeleteTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb'
import { audit } from '../../../lib/audit/audit.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import { variableOf } from '../../../lib/config.ts'
import { CommandError } from '../command-error.ts'
import { describeFinding } from '../commands/audit-command.ts'
import { connect } from '../connect.ts'
import { explainFailure } from '../explain-failure.ts'
import type { ExitCode, Session } from '../session.ts'
import { describeRestored, type Plan, planRestores, type Restore, restoreTable } from './restore-tables.ts'

const CLEARING_TIMEOUT_MS = 15 * 60_000

/** Restores into new tables, audits and removes them. @throws CommandError naming what is left, if it failed */
export async function rehearseRestore(session: Session, { at }: { at?: number }): Promise<ExitCode> {
  const { output } = session
  const plan = await planRestores('ledger', 'rehearsal', at, session)
  const clear = () => {
    output.progress('removing the restored tables')
    return removeAll(plan.restores, plan.client)
  }
  const report = await restoreAndAudit(plan, session).catch(async (cause) => {
    const left = await clear()
    if (left.length === 0) throw cause
    const message = `${explainFailure(cause).message} Left behind: ${left.join('; ')}`
    throw new CommandError('left_behind', message, { cause })
  })
  const left = await clear()
  const { tables, workspaces, documents, findings } = report
  const moment = new Date(plan.restores[0]?.momentMs ?? 0)
  const found = findings === 0 ? 'nothing is wrong' : `${findings} findings`
  const lines = [
    ...tables.map(describeRestored),
    `As of ${moment.toISOString()}: ${workspaces} workspaces with ${documents} documents, ${found}.`,
    left.length === 0 ? 'The restored tables were removed again.' : `Left behind: ${left.join('; ')}`,
  ]
  output.print(lines.join('\n'), { kind: 'report', moment, ...report, left })
  return findings === 0 && left.length === 0 ? 0 : 1
}

async function restoreAndAudit({ restores, env, client }: Plan, { output, signal }: Session) {
  output.progress(`restoring ${restores.length} tables`)
  const restoring = restores.map((restore) => restoreTable(restore, client, signal))
  // All restores end before any table is removed.
  await Promise.allSettled(restoring)
  const tables = await Promise.all(restoring)
  output.progress('auditing the restored tables')
  const restored = Object.fromEntries(restores.map(({ parameter, target }) => [variableOf(parameter), target]))
  const auditOptions = {
    repair: false,
    deleteLostDocuments: false,
    // The objects are the current ones, not those of that moment.
    onFinding: (finding: Finding) => output.print(describeFinding(finding), finding),
  }
  const { workspaces, documents, findings } = await audit(auditOptions, connect({ ...env, ...restored }), signal)
  signal.throwIfAborted()
  return { tables, workspaces, documents, findings }
}

async function removeAll(restores: Restore[], client: DynamoDBClient): Promise<string[]> {
  const abortSignal = AbortSignal.timeout(CLEARING_TIMEOUT_MS)
  const left: string[] = []
  for (const { target: TableName } of restores) {
    try {
      await client.send(new DeleteTableCommand({ TableName }), { abortSignal })
      await waitUntilTableNotExists({ client, maxWaitTime: CLEARING_TIMEOUT_MS / 1000, abortSignal }, { TableName })
    } catch (error) {
      if (error instanceof ResourceNotFoundException) continue
      left.push(`table ${TableName} (${explainFailure(error).message})`)
    }
  }
  return left
}
