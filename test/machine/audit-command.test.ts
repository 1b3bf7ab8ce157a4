import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DeleteObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newApiKeyRecord } from '../../lib/auth/api-key-administration.ts'
import { newToken } from '../../lib/auth/api-token.ts'
import { createApiKeyAdministration } from '../../lib/aws/dynamodb/api-key-administration.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { jsonLines, runAdmin, runAdminProcess } from '../support/machine/admin.ts'
import { startStores, type TestService } from '../support/machine/services.ts'
import { environmentOn } from '../support/stores/aws-endpoints.ts'

/** As good as none: the embedded stores are started, and found. */
const EMPTY = {
  ...{ AWS_ENDPOINT_URL_S3: '', AWS_ENDPOINT_URL_DYNAMODB: '' },
  ...{ AWS_REGION: '', AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
}
let directory: string
let service: TestService

beforeAll(async () => {
  service = await startStores(EMPTY)
  directory = service.directory
})
afterAll(async () => {
  await service.stop()
})

const admin = (...args: string[]) => runAdmin(args)
/** As a service leaves its directory. */
async function stopped() {
  const place = join(directory, 'stopped')
  await mkdir(place, { recursive: true })
  const demo = { environment: {}, dynamodb_endpoint: 'http://127.0.0.1:1', s3_endpoint: 'http://127.0.0.1:1' }
  await writeFile(join(place, 'demo.json'), JSON.stringify(demo))
  return admin('--local', '--directory', place, 'audit')
}
const line = (...args: string[]) => ['--local', '--directory', directory, 'audit', ...args]
const audit = (...args: string[]) => runAdmin(line(...args), EMPTY)

describe('npm run admin -- audit', () => {
  it('says that nothing is wrong: exit code 0', async () => {
    expect(await runAdminProcess(line())).toEqual({
      code: 0,
      stdout: '2 workspaces with 1 documents of 1000000 bytes: nothing is wrong.\n',
      stderr: '',
    })
  })

  it('finds a lost object: exit code 1; repairs it: exit code 0; then nothing is wrong', async () => {
    const { demo } = service
    const s3 = new S3Client({
      region: 'us-east-1',
      endpoint: demo.s3_endpoint,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    })
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: demo.documents_bucket }))
    await s3.send(new DeleteObjectCommand({ Bucket: demo.documents_bucket, Key: Contents[0]?.Key }))

    const found = await runAdminProcess(line())
    expect(found.code).toBe(1)
    expect(found.stdout).toMatch(
      /^ws_full: document file_\w+ \(1000000 bytes\) has lost its object documents\/ws_full\/\S+\n/,
    )
    expect(found.stdout).toContain('1 findings, 0 repaired, 1 left.')

    const json = await audit('--json', '--workspace', 'ws_full')
    expect(json.code).toBe(1)
    expect(jsonLines(json)).toMatchObject([
      { kind: 'document_without_object', workspace_id: 'ws_full', is_repaired: false },
      { kind: 'report', workspaces: 1, findings: 1, repaired: 0 },
    ])

    expect((await audit('--repair')).code).toBe(1)
    const repaired = await audit('--repair', '--delete-lost-documents')
    expect(repaired.code).toBe(0)
    expect(repaired.stdout).toContain('(repaired)')
    expect((await audit()).stdout).toBe('2 workspaces with 0 documents of 0 bytes: nothing is wrong.\n')
  })

  it('finds a key with an unknown permission, until it is changed', async () => {
    const { demo } = service
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
    const dynamoDb = new DynamoDBClient({ region: 'us-east-1', endpoint: demo.dynamodb_endpoint, credentials })
    const grant = {
      workspaceId: 'ws_misspelt' as WorkspaceId,
      kind: 'standard',
      permissions: ['files:raed'],
      userId: undefined,
      expiresAtMs: undefined,
    } as const
    const key = newApiKeyRecord(newToken(), grant, Date.now())
    const { environment } = demo
    const keys = createApiKeyAdministration({ client: dynamoDb, tableName: environment.KEYS_TABLE ?? '' })
    await keys.add(key, AbortSignal.timeout(60_000))
    const found = await audit('--workspace', 'ws_misspelt', '--json')
    expect([found.code, jsonLines(found)]).toMatchObject([
      1,
      [
        { kind: 'unknown_permission', key_id: key.keyId, permissions: ['files:raed'] },
        { kind: 'report', findings: 1 },
      ],
    ])
    await admin('--local', '--directory', directory, 'keys', 'change', key.keyId, '--permission', 'files:read')
    expect((await audit('--workspace', 'ws_misspelt')).code).toBe(0)
  })

  it.each([
    [
      'no local service',
      () => admin('--local', '--directory', join(directory, 'none'), 'audit'),
      'start it with npm start',
    ],
    ['one that was stopped', () => stopped(), 'start it with npm start'],
    ['an unknown option', () => audit('--nonsense'), 'unknown option'],
  ])('fails for %s with exit code 2 and says why', async (_, run, why) => {
    const { code, stderr } = await run()
    expect(code).toBe(2)
    expect(stderr).toContain(why)
  })

  it('has a region by AWS_DEFAULT_REGION or the profile where the variable is empty', async () => {
    const profile = join(directory, 'config')
    await writeFile(profile, '[default]\nregion = us-east-1\n')
    const stores = environmentOn(service.demo.dynamodb_endpoint, service.demo.s3_endpoint)
    for (const next of [{ AWS_DEFAULT_REGION: 'us-east-1' }, { AWS_CONFIG_FILE: profile }]) {
      const { code, stderr } = await runAdmin(['workspaces', 'list'], { ...stores, AWS_REGION: '', ...next })
      expect(code, stderr).toBe(0)
    }
  })
})
