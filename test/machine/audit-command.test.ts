import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { jsonLines, runAdmin, runAdminProcess } from '../support/machine/admin.ts'
import { useStores } from '../support/machine/services.ts'
import { environmentOn } from '../support/stores/aws-endpoints.ts'

/** As good as none: the embedded stores are started, and found. */
const EMPTY = {
  ...{ AWS_ENDPOINT_URL_S3: '', AWS_ENDPOINT_URL_DYNAMODB: '' },
  ...{ AWS_REGION: '', AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
}
const service = useStores(EMPTY)
const directory = () => service().directory

const line = (...args: string[]) => ['--local', '--directory', directory(), 'audit', ...args]
const audit = (...args: string[]) => runAdmin(line(...args), EMPTY)

describe('npm run admin -- audit', () => {
  it('says that nothing is wrong: exit code 0', async () => {
    expect(await runAdminProcess(line())).toEqual({
      code: 0,
      stdout: '2 workspaces with 1 documents of 1000000 bytes: nothing is wrong.\n',
      stderr: '',
    })
  })

  it.each([{}, { NO_PROXY: 'a.example' }, { no_proxy: '' }])('asks no proxy for this machine: %j', async (others) => {
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:9', ...others }
    expect(await runAdminProcess(line(), env)).toMatchObject({ code: 0, stderr: '' })
  })

  it('finds a lost object: exit code 1; repairs it: exit code 0; then nothing is wrong', async () => {
    const { demo, s3 } = service()
    const { Contents = [] } = await s3.listObjectsV2({ Bucket: demo.documents_bucket })
    await s3.deleteObject({ Bucket: demo.documents_bucket, Key: Contents[0]?.Key })

    const found = await runAdminProcess(line())
    expect(found.code).toBe(1)
    expect(found.stdout).toMatch(
      /^ws_full: document_without_object: document_id file_\w+, object_key documents\/ws_full\/\S+, size_bytes 1000000\n/,
    )
    expect(found.stdout).toContain('1 findings, 0 repaired, 1 left. "audit --repair"')

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

  it('fails for a local service that was stopped with exit code 2 and says why', async () => {
    const place = join(directory(), 'stopped')
    await mkdir(place, { recursive: true })
    // As a service leaves its directory.
    const demo = { environment: {}, dynamodb_endpoint: 'http://127.0.0.1:1', s3_endpoint: 'http://127.0.0.1:1' }
    await writeFile(join(place, 'demo.json'), JSON.stringify(demo))
    const { code, stderr } = await runAdmin(['--local', '--directory', place, 'audit'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('start it with npm start')])
  })

  it('has a region by AWS_DEFAULT_REGION or the profile where the variable is empty', async () => {
    const profile = join(directory(), 'config')
    await writeFile(profile, '[default]\nregion = us-east-1\n')
    const stores = environmentOn(service().demo.dynamodb_endpoint, service().demo.s3_endpoint)
    for (const next of [{ AWS_DEFAULT_REGION: 'us-east-1' }, { AWS_CONFIG_FILE: profile }]) {
      const { code, stderr } = await runAdmin(['workspaces', 'list'], { ...stores, AWS_REGION: '', ...next })
      expect(code, stderr).toBe(0)
    }
  })
})
