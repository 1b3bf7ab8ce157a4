import { beforeAll, describe, expect, inject, it } from 'vitest'
import { jsonLines, runAdmin, runAdminProcess } from '../support/machine/admin.ts'
import { CALLER, denyEverything, environmentOn, NOBODY, useServers } from '../support/stores/aws-endpoints.ts'
import { useStandIns } from '../support/stores/stand-ins.ts'

const serve = useServers()
const standIns = useStandIns()
let denying: string
let lambda: string

beforeAll(async () => {
  denying = await serve(denyEverything)
  lambda = await serve((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (!request.url?.includes('/container-file-promotion-prod-promote-container-file/configuration')) {
      response.writeHead(404, { 'x-amzn-errortype': 'ResourceNotFoundException' })
      return void response.end(JSON.stringify({ Message: 'Function not found' }))
    }
    response.end(JSON.stringify({ Environment: { Variables: inject('definition').environment } }))
  })
})

/** Every call would fail: whoever makes one is found out. */
const offline = () => environmentOn(NOBODY)

it.each([
  [['nonsense'], "unknown command 'nonsense' (--help"],
  [['keys', 'revoke'], "unknown command 'revoke' (--help"],
  [['workspace', 'list'], "unknown command 'workspace' (Did you mean workspaces?) (--help"],
  [['--stage', 'n/a', 'keys', 'list'], '"n/a" is not the name of a stage'],
  [['keys', 'list', '--workspaces', 'w'], "unknown option '--workspaces' (Did you mean --workspace?) (--help"],
  [['keys', 'change', 'key_'], '"key_" is not a key id, such as key_0'],
  [['documents', 'show', 'ws_1', 'file_'], '"file_" is not a document id, such as file_7Zk'],
  [['workspaces', 'show'], "missing required argument 'workspace_id'"],
  [['workspaces', 'show', '../x'], '"../x" is not a workspace id'],
  [['workspaces', 'set', 'ws_1', '--expire-after', '59m'], '"59m" is not possible: from 1h to 3650d'],
  [['keys', 'create'], 'Say --workspace or --platform.'],
  [['keys', 'create', '--workspace', 'w'], 'needs --management or a --permission'],
  [
    ['keys', 'create', '--workspace', 'w', '--management', '--permission', 'files:promote'],
    '--management has files:promote anyway',
  ],
  [['keys', 'change', 'key_1', '--expires', '2020-01-01'], '"2020-01-01" is past'],
  [['documents', 'expire', 'ws_1', 'file_1'], 'one of --in and --never'],
  [['documents', 'expire', 'ws_1', 'file_1', '--in', '1h', '--never'], 'one of --in and --never'],
  [['documents', 'delete', 'ws_1', 'cfile_x'], '"cfile_x" is not a document id'],
  [['containers', 'put', 'a.txt'], "required option '--container <id>' not specified"],
  [['containers', 'grant', 'c'], "required option '--workspace <id>' not specified"],
  [['containers', 'grant', 'a/b', '--workspace', 'w'], '"a/b" is not a container id'],
  [['--local', '--stage', 'prod', 'audit'], "option '--local' cannot be used with option '--stage <name>'"],
])('npm run admin --: wrong usage %j: exit code 2, one line that says why', async (args, why) => {
  const { code, stdout, stderr } = await runAdmin(args, offline())
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(why)
  expect(stderr.trim()).not.toContain('\n')
  // The library's words for a value that it does not know.
  expect(stderr).not.toContain('is invalid')
})

it.each([
  [['workspaces', 'show', 'ws_none'], 'workspace_not_found'],
  [['workspaces', 'set', 'ws_none', '--expire-after', '1h'], 'workspace_not_found'],
  [['documents', 'expire', 'ws_none', 'file_1', '--never'], 'workspace_not_found'],
  [['documents', 'list', 'ws_none'], 'workspace_not_found'],
  [['documents', 'show', 'ws_none', 'file_1'], 'workspace_not_found'],
  [['documents', 'delete', 'ws_none', 'file_1'], 'workspace_not_found'],
  [['containers', 'put', 'package.json', '--container', 'c', '--workspace', 'ws_none'], 'workspace_not_found'],
  [['containers', 'grant', 'c', '--workspace', 'ws_none'], 'workspace_not_found'],
  [['containers', 'upload-url', 'c', 'a.txt', '--workspace', 'ws_none'], 'workspace_not_found'],
  [['keys', 'list', '--workspace', 'ws_none'], 'workspace_not_found'],
  [['audit', '--workspace', 'ws_none'], 'workspace_not_found'],
  [['keys', 'change', 'key_none', '--disable'], 'key_not_found'],
  [['keys', 'delete', 'key_none'], 'key_not_found'],
])(
  'npm run admin --: the service is not as the command needs it %j: exit code 1, and one JSON object on the error output',
  async (args, reason) => {
    const env = environmentOn(standIns().dynamoDbEndpoint, standIns().s3Endpoint)
    const { code, stdout, stderr } = await runAdmin([...args, '--json'], env)
    expect([code, stdout]).toEqual([1, ''])
    expect(JSON.parse(stderr)).toEqual({ error: { reason, message: expect.any(String) } })
  },
)

describe('npm run admin --: AWS does not play along', () => {
  const dynamoDb = () => standIns().dynamoDbEndpoint
  const withoutTable = () => ({ ...environmentOn(dynamoDb()), WORKSPACES_TABLE: 'none' })
  const withoutBucket = () => ({ ...environmentOn(dynamoDb(), standIns().s3Endpoint), DOCUMENTS_BUCKET: 'none' })
  const lonely = () => ({ ...offline(), HOME: '/nonexistent', AWS_EC2_METADATA_DISABLED: 'true' })
  const elsewhere = () => ({ ...CALLER, AWS_ENDPOINT_URL_LAMBDA: lambda })
  it.each([
    ['access denied', () => environmentOn(denying), 'keys list', 'access_denied', /is not authorized/],
    ['access denied by S3', () => environmentOn(dynamoDb(), denying), 'audit', 'access_denied', /is not authorized/],
    ['nobody answers', offline, 'workspaces list', 'unreachable', /^No answer from 127\.0\.0\.1:1:/],
    ['no table', withoutTable, 'workspaces list', 'not_deployed', /is the service deployed/],
    ['no bucket', withoutBucket, 'audit', 'not_deployed', /A table or bucket is not there/],
    ['no region', () => ({ ...lonely(), AWS_REGION: undefined }), 'workspaces list', 'no_region', /--region/],
    ['no credentials', () => ({ ...lonely(), AWS_ACCESS_KEY_ID: '' }), 'keys list', 'no_credentials', /AWS_PROFILE/],
    ['no deployment named', () => CALLER, 'workspaces list', 'bad_configuration', /--local or --stage .* KEYS_TABLE/],
    ['an unknown stage', elsewhere, '--stage none keys list', 'not_deployed', /stage "none" is not deployed/],
  ] as const)('%s: exit code 2, in words', async (_, env, args, reason, words) => {
    const { code, stderr } = await runAdmin([...args.split(' '), '--json'], env())
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
    const { code, stdout, stderr } = await runAdminProcess(['audit'], environmentOn(hanging), interruption)
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: 'Stopped by SIGINT.\n' })
  })
})

it('npm run admin -- --stage works with the settings of the deployed function', async () => {
  const endpoints = { AWS_ENDPOINT_URL_LAMBDA: lambda, AWS_ENDPOINT_URL_DYNAMODB: standIns().dynamoDbEndpoint }
  const { AWS_REGION, ...keys } = CALLER
  const env = { ...keys, ...endpoints }
  const line = `--stage prod --region ${AWS_REGION} workspaces create ws_staged --json`
  const made = await runAdmin(line.split(' '), env)
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(jsonLines(made)).toMatchObject([
    { workspace_id: 'ws_staged', quota_bytes: standIns().config.defaultQuotaBytes },
  ])
})
