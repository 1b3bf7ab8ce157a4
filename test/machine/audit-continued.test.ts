import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
const directory = () => service().directory
beforeAll(async () => {
  const stores = connect(await useLocalService(directory()))
  for (let n = 0; n < WORKSPACES; n++) {
    const { workspaceId, objectKey } = newAttempt({ workspaceId: `ws_loose_${n}` as WorkspaceId })
    await stores.workspaces.create(workspaceId, 1000, AbortSignal.timeout(60_000))
    await stores.s3.send(new PutObjectCommand({ Bucket: stores.config.documentsBucket, Key: objectKey, Body: 'loose' }))
  }
}, 120_000)

const inShards = async () => connect({ ...(await useLocalService(directory())), AUDIT_SHARDS: String(SHARDS) })

/** As the command does it. @param most after so many findings, Ctrl-C is pressed */
async function audit(continues: boolean, most = Number.POSITIVE_INFINITY, openStores = inShards) {
  const stopped = new AbortController()
  const found: string[] = []
  const shown: string[] = []
  const notes: string[] = []
  const session = {
    output: { note: (text: string) => notes.push(text), progress: (text: string) => shown.push(text) },
    signal: stopped.signal,
    stores: openStores,
    target: { local: true, directory: directory() },
  } as unknown as Session
  const onFinding = (finding: Finding) => {
    if (found.push(findingId(finding)) === most) stopped.abort(new Error('Stopped by SIGINT.'))
  }
  const options = { repair: false, deleteLostDocuments: false, onFinding }
  const report = await auditAll(options, continues, session).catch((error: Error) => error)
  return { report, found, shown, notes }
}

const checkpoint = () => join(directory(), 'audit-local.json')

describe('an audit by the command', () => {
  it('goes on where Ctrl-C stopped it, until all is found; nothing is looked at again but what it was at', async () => {
    const first = await audit(false, 4)
    expect(first.report).toEqual(new Error('Stopped by SIGINT.'))
    expect(first.notes).toEqual([expect.stringMatching(/^audited .*workspaces\. Go on with: audit --continue$/)])
    const second = await audit(true, 3)
    expect(second.report).toBeInstanceOf(Error)
    const third = await audit(true)
    expect(second.notes).toEqual([`${third.shown[0]}. Go on with: audit --continue`])
    expect(third.report).toMatchObject({ workspaces: WORKSPACES + 2, findings: WORKSPACES })
    const all = [...first.found, ...second.found, ...third.found]
    expect(new Set(all).size).toBe(WORKSPACES)
    expect(all.length - WORKSPACES).toBeLessThanOrEqual(2 * SHARDS)
    expect(third.shown.at(-1)).toMatch(/^audited (\[#+-*\] )?14( of about [\d,]+)? workspaces$/)
    await expect(access(checkpoint())).rejects.toThrow('ENOENT')
  })

  it('has nothing to continue when there is no file, or half of one', async () => {
    expect((await audit(true)).report).toMatchObject({ reason: 'nothing_to_continue' })
    await writeFile(checkpoint(), '{"roundId":')
    expect((await audit(true)).report).toMatchObject({ reason: 'nothing_to_continue' })
  })

  it('fails at once where the stores refuse, and can be continued', async () => {
    expect((await audit(false, 1)).report).toBeInstanceOf(Error)
    const broken = async () => connect({ ...(await useLocalService(directory())), DOCUMENTS_TABLE: 'not-there' })
    const { report, notes } = await audit(true, undefined, broken)
    expect([report, notes]).toEqual([
      expect.objectContaining({ name: 'ResourceNotFoundException' }),
      [expect.any(String)],
    ])
    expect((await audit(true)).report).toMatchObject({ findings: WORKSPACES })
  })

  it('skips a workspace whose audit keeps failing, and reports it; one that fails twice is audited', async () => {
    const failures = new Map([
      ['ws_loose_3', Number.POSITIVE_INFINITY],
      ['ws_loose_7', 2],
    ])
    const poisoned = async () => {
      const healthy = await inShards()
      const list: Stores['reservations']['list'] = (workspaceId, ...rest) => {
        const left = failures.get(workspaceId) ?? 0
        failures.set(workspaceId, left - 1)
        if (left > 0) throw new TypeError('x is not a function')
        return healthy.reservations.list(workspaceId, ...rest)
      }
      return { ...healthy, reservations: { ...healthy.reservations, list } }
    }
    const { report, found } = await audit(false, undefined, poisoned)
    expect(report).toMatchObject({ workspaces: WORKSPACES + 1, findings: WORKSPACES })
    expect(found.filter((id) => id.startsWith('not_audited'))).toEqual([
      'not_audited ws_loose_3 TypeError: x is not a function',
    ])
    expect(found.filter((id) => id.includes('ws_loose_7'))).toHaveLength(1)
  })
})
