import { describe, expect, it } from 'vitest'
import { toApiKey } from '../../../lib/aws/dynamodb/api-key-store.ts'

const RECORD = { key_id: 'key_1', workspace_id: 'ws_1', kind: 'management', status: 'enabled' }

describe('the record of an API key', () => {
  it('is read', () => {
    expect(toApiKey(RECORD as never)).toMatchObject({ keyId: 'key_1', workspaceId: 'ws_1', isEnabled: true })
  })

  it.each([
    ['no key_id', { key_id: undefined }],
    ['a key_id that is a number', { key_id: 7 }],
    ['no workspace_id', { workspace_id: undefined }],
    ['a workspace_id that is a list', { workspace_id: ['ws_1'] }],
    ['a workspace_id that would be a path', { workspace_id: '../ws_2' }],
    ['an expires_at that is text', { expires_at: '2026-11-22' }],
  ])('is refused with %s', (_, change) => {
    expect(() => toApiKey({ ...RECORD, ...change } as never)).toThrow(/API key record/)
  })
})
