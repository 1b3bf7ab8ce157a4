import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runAdmin } from '../support/local-service/admin.ts'
import { startStores, type TestService } from '../support/local-service/services.ts'
import { environmentOn } from '../support/stores/aws-endpoints.ts'

const EMPTY = {
  AWS_ENDPOINT_URL_S3: '',
  AWS_ENDPOINT_URL_DYNAMODB: '',
  AWS_REGION: '',
  AWS_ACCESS_KEY_ID: '',
  AWS_SECRET_ACCESS_KEY: '',
}

let service: TestService
let directory: string

beforeAll(async () => {
  service = await startStores(EMPTY)
  directory = await mkdtemp(join(tmpdir(), 'promotion-profile-'))
})
afterAll(async () => {
  await service.stop()
  await rm(directory, { recursive: true, force: true })
})

describe('an empty variable of the environment is as good as none', () => {
  it('for npm start, which then starts the embedded stores', () => {
    expect(service.demo.s3_endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(service.demo.dynamodb_endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  })

  it('for --local', async () => {
    const { code, stderr } = await runAdmin(['--local', '--directory', service.directory, 'workspaces', 'list'], EMPTY)
    expect(code, stderr).toBe(0)
  })

  it('for the region: AWS_DEFAULT_REGION and the profile come next', async () => {
    const profile = join(directory, 'config')
    await writeFile(profile, '[default]\nregion = us-east-1\n')
    const stores = environmentOn(service.demo.dynamodb_endpoint, service.demo.s3_endpoint)
    for (const next of [{ AWS_DEFAULT_REGION: 'us-east-1' }, { AWS_CONFIG_FILE: profile }]) {
      const { code, stderr } = await runAdmin(['workspaces', 'list'], { ...stores, AWS_REGION: '', ...next })
      expect(code, stderr).toBe(0)
    }
  })
})
