import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, it, vi } from 'vitest'
import { rotateKey } from '../../../infra/cli/commands/keys-commands.ts'
import { useLocalService } from '../../../infra/cli/connect.ts'
import { createOutput } from '../../../infra/cli/terminal/output.ts'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { newToken } from '../../../lib/auth/api-token.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { useDirectory } from '../../support/use-directory.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()
const { signal } = new AbortController()
const workspaceId = 'ws_1' as WorkspaceId
const directory = useDirectory('half')

it('keys rotate shows no token when the key was rotated or deleted meanwhile', async () => {
  const grant = { workspaceId, kind: 'management', permissions: [], userId: undefined } as const
  const key = newApiKeyRecord(newToken(), { ...grant, expiresAtMs: undefined }, Date.now())
  const stores = { apiKeys: { get: async () => key, change: async () => undefined }, now: Date.now }
  const output = { print: vi.fn(), note: vi.fn() }
  const session = { output, signal, stores: async () => stores } as never
  await expect(rotateKey(session, key.keyId, { grace: 1000 })).rejects.toMatchObject({ reason: 'workspace_busy' })
  expect(output.print).not.toHaveBeenCalled()
})

it.each(['', '{"environment": {'])('a local service whose file is half written does not run: %j', async (half) => {
  await writeFile(join(directory(), 'demo.json'), half)
  await expect(useLocalService(directory())).rejects.toMatchObject({ reason: 'not_running', exitCode: 2 })
})

/** A pipe whose reader has closed it. */
const closedPipe = () =>
  new Writable({
    // Like standard output, it goes on, and fails again.
    autoDestroy: false,
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('closed'), { code: 'EPIPE' })),
  }).on('error', () => {})

it('a list ends where nobody reads on, however long it is', async () => {
  const output = createOutput({ isJson: true, terminal: { stdout: closedPipe(), stderr: closedPipe() } as never })
  let rows = 0
  async function* endless() {
    for (;;) yield await new Promise<object>((resolve) => setImmediate(resolve, { row: ++rows }))
  }
  await output.list(endless(), { columns: {}, toJson: (row) => row, noun: 'rows' })
  expect(rows).toBeLessThan(5)
})
