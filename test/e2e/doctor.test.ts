import { type RequestListener, request } from 'node:http'
import { ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonLines, runAdmin } from '../support/local-service/admin.ts'
import {
  CALLER,
  denyEverything,
  environmentOn,
  environmentOnStandIns,
  NOBODY,
  useServers,
} from '../support/stores/aws-endpoints.ts'
import { type StandIns, startStandIns } from '../support/stores/stand-ins.ts'

const serve = useServers()
let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
  const Key = 'sandboxes/ws_1/sess_1/output/a b+ü.txt'
  await standIns.s3.send(new PutObjectCommand({ Bucket: standIns.config.sandboxBucket, Key, Body: 'text' }))
})
afterAll(() => standIns.stop())

/** The same S3, which takes the conditions and does nothing about them. */
const withoutConditions: RequestListener = (asked, answered) => {
  const { 'x-amz-copy-source-if-match': _, 'x-amz-mp-object-size': __, ...headers } = asked.headers
  const passedOn = request(`${standIns.s3Endpoint}${asked.url}`, { method: asked.method, headers }, (answer) => {
    answered.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(answered)
  })
  asked.pipe(passedOn)
}

async function conditions(s3Endpoint: string) {
  const env = environmentOn(standIns.dynamoDbEndpoint, s3Endpoint)
  const result = await runAdmin(['doctor', '--json'], env)
  const [check] = jsonLines(result).filter((line) => `${line.check}`.startsWith('conditions of copies'))
  return { code: result.code, verdict: check?.verdict, detail: check?.detail }
}

describe('npm run admin -- doctor', () => {
  const doctor = async (env: Record<string, string>) => {
    const result = await runAdmin(['doctor', '--json'], env)
    const verdicts = Object.fromEntries(
      jsonLines(result).map(({ check, verdict, detail }) => [`${check}`, { verdict, detail }]),
    )
    return { ...result, verdicts }
  }

  it('finds no fault in the stand-ins, and says what they cannot tell: exit code 0', async () => {
    const env = environmentOnStandIns(standIns)
    const { code, stderr, verdicts } = await doctor(env)
    expect([code, stderr]).toEqual([0, ''])
    expect(new Set(Object.values(verdicts).map(({ verdict }) => verdict))).toEqual(new Set(['ok', 'not_checked']))
    for (const check of [
      'configuration',
      'credentials',
      'clock',
      `table ${standIns.config.keysTable}`,
      'permissions on objects',
    ]) {
      expect(verdicts[check]).toMatchObject({ verdict: 'ok' })
    }
    // Its tries at writing left nothing behind.
    const { stdout } = await runAdmin(['keys', 'list', '--json'], env)
    expect(stdout).not.toContain('doctor')
  })

  it('names what is refused and a wrong clock: exit code 1', async () => {
    const { code, verdicts } = await doctor(environmentOn(await serve(denyEverything)))
    expect(code).toBe(1)
    expect(verdicts.clock).toMatchObject({ verdict: 'problem', detail: expect.stringMatching(/^360\d s ahead of/) })
    expect(verdicts['permissions on keys']?.detail).toContain('dynamodb:PutItem, dynamodb:Scan, dynamodb:UpdateItem')
    expect(verdicts['permissions on objects']?.detail).toContain('s3:AbortMultipartUpload')
    expect(verdicts[`table ${standIns.config.keysTable}`]).toMatchObject({ verdict: 'not_checked' })
  })

  it('goes on when the configuration, a table or a server is missing', async () => {
    const { endpoint, ...tables } = { endpoint: standIns.dynamoDbEndpoint, DOCUMENTS_TABLE: 'none' }
    const [unset, mixed] = await Promise.all([
      doctor({ ...CALLER, AWS_ENDPOINT_URL_DYNAMODB: endpoint }),
      doctor({
        ...environmentOn(endpoint),
        ...tables,
        KEYS_TABLE: standIns.config.workspacesTable,
        AWS_ENDPOINT_URL_S3: NOBODY,
      }),
    ])
    expect([unset.code, mixed.code]).toEqual([1, 1])
    expect(unset.verdicts.configuration?.detail).toContain('KEYS_TABLE is not set; WORKSPACES_TABLE is not set')
    expect(unset.verdicts.clock).toMatchObject({ verdict: 'ok' })
    expect(mixed.verdicts['table none']).toMatchObject({ verdict: 'problem' })
    expect(mixed.verdicts[`table ${standIns.config.workspacesTable}`]).toBeDefined()
    expect(mixed.verdicts[`bucket ${standIns.config.documentsBucket}`]?.detail).toContain('No answer from')
    expect(mixed.verdicts['permissions on workspaces']).toMatchObject({ verdict: 'ok' })
  })
})

describe('doctor, on an S3-compatible server', () => {
  it('finds that one minds the conditions of copies', async () => {
    expect(await conditions(standIns.s3Endpoint)).toMatchObject({ code: 0, verdict: 'ok' })
  })

  it('finds that another one ignores them, and leaves nothing behind', async () => {
    const { code, verdict, detail } = await conditions(await serve(withoutConditions))
    expect({ code, verdict }).toEqual({ code: 1, verdict: 'problem' })
    for (const condition of ['CopyObject', 'UploadPartCopy', 'CompleteMultipartUpload']) {
      expect(detail).toContain(condition)
    }
    const Bucket = standIns.config.documentsBucket
    expect((await standIns.s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).toEqual([])
    expect((await standIns.s3.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []).toEqual([])
  })
})
