import { createServer, type RequestListener, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { close, LOOPBACK, listen } from '../../infra/local/listen.ts'
import { jsonLines, runAdmin, runAdminProcess } from '../support/admin.ts'
import { type StandIns, startStandIns } from '../support/stand-ins.ts'

const NOBODY = `http://${LOOPBACK}:1`
const HOUR_MS = 3_600_000
let standIns: StandIns
let servers: Server[]
let denying: string
let lambda: string

beforeAll(async () => {
  standIns = await startStandIns()
  servers = []
  // Refuses everything, as IAM would, with a clock that is an hour behind.
  denying = await serve((request, response) => {
    const date = new Date(Date.now() - HOUR_MS).toUTCString()
    const isDynamoDb = request.headers['x-amz-target'] !== undefined
    response.writeHead(isDynamoDb ? 400 : 403, {
      date,
      'content-type': isDynamoDb ? 'application/x-amz-json-1.0' : 'application/xml',
    })
    const message = 'User: arn:aws:iam::1:user/x is not authorized'
    const json = JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', Message: message })
    response.end(isDynamoDb ? json : `<Error><Code>AccessDenied</Code><Message>${message}</Message></Error>`)
  })
  lambda = await serve((request, response) => {
    const isDeployed = request.url?.includes(
      '/functions/container-file-promotion-prod-promote-container-file/configuration',
    )
    const error = { 'x-amzn-errortype': 'ResourceNotFoundException' }
    response.writeHead(isDeployed ? 200 : 404, { 'content-type': 'application/json', ...(isDeployed ? {} : error) })
    const { environment } = inject('definition')
    response.end(
      JSON.stringify(isDeployed ? { Environment: { Variables: environment } } : { Message: 'Function not found' }),
    )
  })
})
afterAll(async () => {
  await Promise.all(servers.map((server) => close(server)))
  await standIns.stop()
})

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  return `http://${LOOPBACK}:${await listen(server, 0)}`
}

const credentials = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
const on = (endpoint: string) => ({
  ...inject('definition').environment,
  ...credentials,
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  AWS_ENDPOINT_URL_S3: endpoint,
})
/** Every call would fail: whoever makes one is found out. */
const offline = () => on(NOBODY)

describe('npm run admin --: wrong usage', () => {
  it.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['keys', 'nonsense'], "unknown command 'nonsense'"],
    [['workspaces', 'show'], "missing required argument 'workspace_id'"],
    [['workspaces', 'show', '../x'], '"../x" is not a workspace id'],
    [['workspaces', 'set-quota', 'ws_1', '10gigs'], '"10gigs" is not a size'],
    [['workspaces', 'set-quota', 'ws_1', '--', '-1'], '"-1" is not a size'],
    [['keys', 'create'], "required option '--workspace <id>' not specified"],
    [['keys', 'create', '--workspace', 'w', '--permission', 'root'], '"root" is not a permission'],
    [['keys', 'create', '--workspace', 'w', '--management', '--permission', 'files:promote'], 'every permission'],
    [['keys', 'expire', 'key_1'], 'one of --at, --in and --never'],
    [['keys', 'expire', 'key_1', '--in', '1h', '--never'], 'one of --at, --in and --never'],
    [['documents', 'delete', 'ws_1', 'cfile_x'], '"cfile_x" is not a document id'],
    [['--local', '--stage', 'prod', 'audit'], "option '--local' cannot be used with option '--stage <name>'"],
  ])('%j: exit code 2, one line that says why', async (args, why) => {
    const { code, stdout, stderr } = await runAdmin(args, offline())
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(why)
    expect(stderr.trim()).not.toContain('\n')
  })

  it('has help for every command', async () => {
    const commands = [
      ...['create', 'show', 'list', 'set-quota', 'delete'].map((name) => ['workspaces', name]),
      ...['create', 'show', 'list', 'disable', 'enable', 'expire', 'rotate'].map((name) => ['keys', name]),
      ...['list', 'show', 'delete'].map((name) => ['documents', name]),
      ['audit'],
      ['doctor'],
    ]
    for (const help of await Promise.all(commands.map((command) => runAdmin([...command, '--help'])))) {
      expect([help.code, help.stderr]).toEqual([0, ''])
      for (const part of ['Usage:', '--stage', '--json', 'Exit code:']) expect(help.stdout).toContain(part)
    }
  })
})

describe('npm run admin --: the service is not as the command needs it', () => {
  it.each([
    [['workspaces', 'show', 'ws_none'], 'workspace_not_found'],
    [['workspaces', 'set-quota', 'ws_none', '1GiB'], 'workspace_not_found'],
    [['documents', 'list', 'ws_none'], 'workspace_not_found'],
    [['documents', 'show', 'ws_none', 'file_1'], 'document_not_found'],
    [['keys', 'disable', 'key_none'], 'key_not_found'],
    [['keys', 'delete', 'key_none'], 'key_not_found'],
    [['workspaces', 'delete', 'ws_none'], 'workspace_not_found'],
  ])('%j: exit code 1, and one JSON object on the error output', async (args, reason) => {
    const env = { ...on(standIns.dynamoDbEndpoint), AWS_ENDPOINT_URL_S3: standIns.s3Endpoint }
    const { code, stdout, stderr } = await runAdmin([...args, '--json'], env)
    expect([code, stdout]).toEqual([1, ''])
    expect(JSON.parse(stderr)).toEqual({ error: { reason, message: expect.any(String) } })
  })
})

describe('npm run admin --: AWS does not play along', () => {
  it.each([
    ['access denied', () => on(denying), ['keys', 'list'], 'access_denied', /is not authorized/],
    [
      'access denied by S3',
      () => ({ ...on(standIns.dynamoDbEndpoint), AWS_ENDPOINT_URL_S3: denying }),
      ['audit'],
      'access_denied',
      /is not authorized/,
    ],
    ['nobody answers', () => on(NOBODY), ['workspaces', 'list'], 'unreachable', /^No answer from 127\.0\.0\.1:1:/],
    [
      'no table',
      () => ({ ...on(standIns.dynamoDbEndpoint), WORKSPACES_TABLE: 'none' }),
      ['workspaces', 'list'],
      'not_deployed',
      /is the service deployed/,
    ],
    [
      'no region',
      () => ({ ...offline(), AWS_REGION: undefined, HOME: '/nonexistent' }),
      ['workspaces', 'list'],
      'no_region',
      /--region/,
    ],
    [
      'no credentials',
      () => ({ ...offline(), AWS_ACCESS_KEY_ID: '', HOME: '/nonexistent', AWS_EC2_METADATA_DISABLED: 'true' }),
      ['workspaces', 'list'],
      'no_credentials',
      /AWS_PROFILE/,
    ],
    [
      'no deployment named',
      () => credentials,
      ['workspaces', 'list'],
      'bad_configuration',
      /--local or --stage .* KEYS_TABLE is not set; /,
    ],
    [
      'an unknown stage',
      () => ({ ...credentials, AWS_ENDPOINT_URL_LAMBDA: lambda }),
      ['--stage', 'none', 'keys', 'list'],
      'not_deployed',
      /stage "none" is not deployed/,
    ],
  ] as const)('%s: exit code 2, in words', async (_, env, args, reason, words) => {
    const { code, stderr } = await runAdmin([...args, '--json'], env())
    expect(code, stderr).toBe(2)
    const { error } = JSON.parse(stderr)
    expect(error.reason).toBe(reason)
    expect(error.message).toMatch(words)
  })

  it('ends by Ctrl-C while it waits for an answer: exit code 2', async () => {
    let called = () => {}
    const interruption = new Promise<void>((resolve) => {
      called = resolve
    })
    const hanging = await serve(() => called())
    const { code, stdout, stderr } = await runAdminProcess(['audit'], on(hanging), interruption)
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: 'Stopped by SIGINT.\n' })
  })
})

describe('npm run admin -- --stage', () => {
  it('works with the settings of the deployed function', async () => {
    const endpoints = { AWS_ENDPOINT_URL_LAMBDA: lambda, AWS_ENDPOINT_URL_DYNAMODB: standIns.dynamoDbEndpoint }
    const { AWS_REGION, ...keys } = credentials
    const env = { ...keys, ...endpoints }
    const made = await runAdmin(
      ['--stage', 'prod', '--region', AWS_REGION, 'workspaces', 'create', 'ws_staged', '--json'],
      env,
    )
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(jsonLines(made)).toMatchObject([
      { workspace_id: 'ws_staged', quota_bytes: standIns.config.defaultQuotaBytes },
    ])
  })
})

describe('npm run admin -- doctor', () => {
  const doctor = async (env: Record<string, string>) => {
    const result = await runAdmin(['doctor', '--json'], env)
    const verdicts = Object.fromEntries(
      jsonLines(result).map(({ check, verdict, detail }) => [`${check}`, { verdict, detail }]),
    )
    return { ...result, verdicts }
  }

  it('finds no fault in the stand-ins, and says what they cannot tell: exit code 0', async () => {
    const env = { ...on(standIns.dynamoDbEndpoint), AWS_ENDPOINT_URL_S3: standIns.s3Endpoint }
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
    const { code, verdicts } = await doctor(on(denying))
    expect(code).toBe(1)
    expect(verdicts.clock).toMatchObject({ verdict: 'problem', detail: expect.stringMatching(/^360\d s ahead of/) })
    expect(verdicts['permissions on keys']?.detail).toContain('dynamodb:PutItem, dynamodb:Scan, dynamodb:UpdateItem')
    expect(verdicts['permissions on objects']?.detail).toContain('s3:AbortMultipartUpload')
    expect(verdicts[`table ${standIns.config.keysTable}`]).toMatchObject({ verdict: 'not_checked' })
  })

  it('goes on when the configuration, a table or a server is missing', async () => {
    const { endpoint, ...tables } = { endpoint: standIns.dynamoDbEndpoint, DOCUMENTS_TABLE: 'none' }
    const [unset, mixed] = await Promise.all([
      doctor({ ...credentials, AWS_ENDPOINT_URL_DYNAMODB: endpoint }),
      doctor({ ...on(endpoint), ...tables, KEYS_TABLE: standIns.config.workspacesTable, AWS_ENDPOINT_URL_S3: NOBODY }),
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
