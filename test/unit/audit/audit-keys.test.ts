import { describe, expect, it } from 'vitest'
import { auditKeys, explainKeyFinding, type KeyFinding } from '../../../lib/audit/audit-keys.ts'
import { type ApiKeyGrant, newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { newToken } from '../../../lib/auth/api-token.ts'
import { PERMISSIONS } from '../../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'

const { signal } = new AbortController()
const workspaceId = 'ws_1' as WorkspaceId

const keyWith = (change: Partial<ApiKeyGrant> & { isEnabled?: boolean }) => {
  const grant = { workspaceId, kind: 'standard', permissions: [], userId: undefined, expiresAtMs: undefined } as const
  return { ...newApiKeyRecord(newToken(), { ...grant, ...change }, 0), isEnabled: change.isEnabled ?? true }
}

const look = (...keys: ReturnType<typeof keyWith>[]) => lookIn(workspaceId, keys)

async function lookIn(workspaceId: WorkspaceId | undefined, keys: ReturnType<typeof keyWith>[]) {
  const findings: KeyFinding[] = []
  const asked: unknown[] = []
  const apiKeys = {
    async *list(attributes: unknown) {
      asked.push(attributes)
      yield* keys
    },
  }
  const report = await auditKeys({ workspaceId, onFinding: (finding) => findings.push(finding) }, { apiKeys }, signal)
  return { findings, report, asked }
}

describe('auditKeys', () => {
  it('finds nothing wrong with any permission that exists, and looks only at the keys of the workspace it was asked for', async () => {
    const { report, findings, asked } = await look(
      keyWith({ permissions: PERMISSIONS }),
      keyWith({ kind: 'management' }),
      ...PERMISSIONS.map((each) => keyWith({ permissions: [each] })),
    )
    expect([report, findings]).toEqual([{ keys: PERMISSIONS.length + 2, withoutPermission: 0, findings: 0 }, []])
    expect(asked).toEqual([{ workspaceId }])
  })

  it('looks at those of all workspaces when it was asked for none', async () => {
    expect((await lookIn(undefined, [])).asked).toStrictEqual([{}])
  })

  it('finds words that are no permission, and names them', async () => {
    const key = keyWith({ permissions: ['files:read', 'file:delete', 'FILES:READ'] })
    const { report, findings } = await look(key)
    const finding = {
      kind: 'unknown_permission',
      keyId: key.keyId,
      workspaceId,
      permissions: ['file:delete', 'FILES:READ'],
    }
    expect([report, findings]).toEqual([{ keys: 1, withoutPermission: 0, findings: 1 }, [finding]])
    expect(explainKeyFinding(findings[0] as KeyFinding)).toBe(
      `key ${key.keyId} has "file:delete", "FILES:READ", which is no permission`,
    )
  })

  it('counts the keys that may do nothing; those that are disabled do not matter', async () => {
    const { report } = await look(
      keyWith({}),
      keyWith({ isEnabled: false }),
      keyWith({ permissions: ['nonsense'] }),
      keyWith({ kind: 'management' }),
    )
    expect(report).toEqual({ keys: 4, withoutPermission: 2, findings: 1 })
  })
})
