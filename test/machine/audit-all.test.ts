import { PutObjectCommand } from '@aws-sdk/client-s3'
import { beforeAll, describe, expect, it } from 'vitest'
import { auditAll } from '../../infra/cli/commands/audit-all.ts'
import { connect, type Stores, useLocalService } from '../../infra/cli/connect.ts'
import type { Session } from '../../infra/cli/session.ts'
import { type Finding, findingId } from '../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { useStores } from '../support/machine/services.ts'
import { newAttempt } from '../support/stores/ledger-values.ts'

const WORKSPACES = 12
const SHARDS = 3
const service = useStores()
const environment = () => useLocalService(service().directory)
beforeAll(async () => {
  const stores = connect(await environment())
  for (let n = 0; n < WORKSPACES; n++) {
    const { workspaceId, objectKey } = newAttempt({ workspaceId: `ws_loose_${n}` as WorkspaceId })
    await stores.workspaces.create(workspaceId, { quotaBytes: 1000 }, AbortSignal.timeout(60_000))
    await stores.s3.send(new PutObjectCommand({ Bucket: stores.config.documentsBucket, Key: objectKey, Body: 'loose' }))
  }
}, 120_000)

const inShards = async () => connect({ ...(await environment()), AUDIT_SHARDS: String(SHARDS) })

/** As the command does it. @param most after so many findings, Ctrl-C is pressed */
async function audit({ most = Number.POSITIVE_INFINITY, stores = inShards } = {}) {
  const stopped = new AbortController()
  const found: string[] = []
  const shown: string[] = []
  const output = { progress: (text: string) => shown.push(text) } as unknown as Session['output']
  const onFinding = (finding: Finding) => {
    if (found.push(findingId(finding)) === most) stopped.abort(new Error('Stopped by SIGINT.'))
  }
  const options = { repair: false, deleteLostDocuments: false, onFinding }
  const report = await auditAll(options, { output, signal: stopped.signal, stores }).catch((error: Error) => error)
  return { report, found, shown }
}

describe('an audit by the command', () => {
  it('finds all, shows how far it is, and ends with Ctrl-C', async () => {
    const { report, found, shown } = await audit()
    expect(report).toMatchObject({ workspaces: WORKSPACES + 2, findings: WORKSPACES })
    expect(new Set(found).size).toBe(WORKSPACES)
    expect(shown.at(-1)).toMatch(/^audited 14 workspaces$/)
    const stopped = await audit({ most: 4 })
    expect([stopped.report, stopped.found.length < WORKSPACES]).toEqual([new Error('Stopped by SIGINT.'), true])
  })

  it('fails at once where the stores refuse', async () => {
    const stores = async () => connect({ ...(await environment()), DOCUMENTS_TABLE: 'not-there' })
    const { report, found } = await audit({ stores })
    expect([report, found]).toEqual([expect.objectContaining({ name: 'ResourceNotFoundException' }), []])
  })

  it('skips a workspace whose audit fails, and reports it', async () => {
    const poisoned = async () => {
      const healthy = await inShards()
      const list: Stores['documents']['list'] = (workspaceId, ...rest) => {
        if (workspaceId === 'ws_loose_3') throw new TypeError('x is not a function')
        return healthy.documents.list(workspaceId, ...rest)
      }
      return { ...healthy, documents: { ...healthy.documents, list } }
    }
    const { report, found } = await audit({ stores: poisoned })
    expect(report).toMatchObject({ workspaces: WORKSPACES + 1, findings: WORKSPACES })
    expect(found.filter((id) => id.startsWith('not_audited'))).toEqual([
      'not_audited ws_loose_3 TypeError: x is not a function',
    ])
  })
})
