import { describe, expect, it } from 'vitest'
import { jsonLines, runAdmin } from '../support/machine/admin.ts'
import { CALLER, denyEverything, environmentOn, NOBODY, useServers } from '../support/stores/aws-endpoints.ts'
import { useStandIns } from '../support/stores/stand-ins.ts'

const serve = useServers()
const standIns = useStandIns()

describe('npm run admin -- doctor', () => {
  const doctor = async (env: Record<string, string>) => {
    const result = await runAdmin(['doctor', '--json'], env)
    const verdicts = Object.fromEntries(
      jsonLines(result).map(({ check, verdict, detail }) => [`${check}`, { verdict, detail }]),
    )
    return { ...result, verdicts }
  }

  it('finds no fault in the stand-ins, and says what they cannot tell: exit code 0', async () => {
    const env = environmentOn(standIns().dynamoDbEndpoint, standIns().s3Endpoint)
    const { code, stderr, verdicts } = await doctor(env)
    expect([code, stderr]).toEqual([0, ''])
    expect(new Set(Object.values(verdicts).map(({ verdict }) => verdict))).toEqual(new Set(['ok', 'not_checked']))
    for (const check of [
      'configuration',
      'credentials',
      `table ${standIns().config.keysTable}`,
      `bucket ${standIns().config.documentsBucket}`,
    ]) {
      expect(verdicts[check]).toMatchObject({ verdict: 'ok' })
    }
  })

  it('names what is refused: exit code 1', async () => {
    const { code, verdicts } = await doctor(environmentOn(await serve(denyEverything)))
    expect(code).toBe(1)
    expect(verdicts[`bucket ${standIns().config.documentsBucket}`]?.detail).toContain('lack s3:ListBucket')
    expect(verdicts[`table ${standIns().config.keysTable}`]).toMatchObject({ verdict: 'not_checked' })
  })

  it('names the indexes that a table lacks, and the status of those that are being made', async () => {
    const { config, dynamoDb, s3Endpoint } = standIns()
    const { KeySchema, TableStatus } = (await dynamoDb.describeTable({ TableName: config.documentsTable })).Table ?? {}
    const GlobalSecondaryIndexes = [{ IndexName: 'due', IndexStatus: 'CREATING' }]
    const Table = { KeySchema, TableStatus, GlobalSecondaryIndexes }
    const building = await serve((_, response) => response.end(JSON.stringify({ Table })))
    const { code, verdicts } = await doctor(environmentOn(building, s3Endpoint))
    const page = '(docs/deploy.md, "Indexes")'
    const detail = `its index documents-by-creation is missing ${page}; its index due is CREATING ${page}`
    expect([code, verdicts[`table ${config.documentsTable}`]]).toEqual([1, { verdict: 'problem', detail }])
  })

  it('checks nothing of a local service that does not run, and says how to start it: exit code 1', async () => {
    const result = await runAdmin(['--local', '--directory', '/nonexistent', 'doctor', '--json'])
    const detail = expect.stringContaining('The local service does not run: start it with npm start.')
    expect([result.code, jsonLines(result)]).toEqual([1, [{ check: 'configuration', verdict: 'problem', detail }]])
  })

  it('names the Region of a bucket that is elsewhere', async () => {
    const moved = await serve((_, response) => response.writeHead(301, { 'x-amz-bucket-region': 'eu-west-3' }).end())
    const { verdicts } = await doctor(environmentOn(standIns().dynamoDbEndpoint, moved))
    expect(verdicts[`bucket ${standIns().config.sandboxBucket}`]?.detail).toContain('The bucket is in eu-west-3')
  })

  it('goes on when the configuration, a table or a server is missing', async () => {
    const { endpoint, ...tables } = { endpoint: standIns().dynamoDbEndpoint, DOCUMENTS_TABLE: 'none' }
    const [unset, mixed] = await Promise.all([
      doctor({ ...CALLER, AWS_ENDPOINT_URL_DYNAMODB: endpoint }),
      doctor({
        ...environmentOn(endpoint),
        ...tables,
        KEYS_TABLE: standIns().config.workspacesTable,
        AWS_ENDPOINT_URL_S3: NOBODY,
      }),
    ])
    expect([unset.code, mixed.code]).toEqual([1, 1])
    expect(unset.verdicts.configuration?.detail).toContain('KEYS_TABLE is not set; WORKSPACES_TABLE is not set')
    expect(unset.verdicts.credentials).toMatchObject({ verdict: 'ok' })
    expect(mixed.verdicts['table none']).toMatchObject({ verdict: 'problem' })
    expect(mixed.verdicts[`table ${standIns().config.workspacesTable}`]).toBeDefined()
    expect(mixed.verdicts[`bucket ${standIns().config.documentsBucket}`]?.detail).toContain('No answer from')
    expect(mixed.verdicts[`table ${standIns().config.rateLimitsTable}`]).toMatchObject({ verdict: 'ok' })
  })
})
