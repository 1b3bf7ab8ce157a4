import { describe, expect, it } from 'vitest'
import { jsonLines, runAdmin } from '../support/machine/admin.ts'
import { run } from '../support/machine/program.ts'
import { useStores } from '../support/machine/services.ts'
import { CALLER, environmentOn, NOBODY, useServers } from '../support/stores/aws-endpoints.ts'

const serve = useServers()
const service = useStores()
const environment = () => environmentOn(service().demo.dynamodb_endpoint, service().demo.s3_endpoint)

describe('npm run admin -- containers grant', () => {
  const SECRET = { AccessKeyId: 'ASIA1234567890', SecretAccessKey: 's3cr/et+key', SessionToken: 'tok/en==' }
  const EXPIRATION = '2026-11-21T15:00:00.000Z'
  const ROLE = 'arn:aws-cn:iam::111122223333:role/team/container-file-promotion-local-sandbox-writer'
  const credentials = Object.entries({ ...SECRET, Expiration: EXPIRATION }).map(
    ([name, value]) => `<${name}>${value}</${name}>`,
  )
  let asked: URLSearchParams[] = []

  /** Stands for STS and for CloudFormation, whose stack has the output or not. */
  async function grantFrom(
    { role = ROLE, refusal }: { role?: string; refusal?: [code: string, message: string] },
    ...args: string[]
  ) {
    asked = []
    const endpoint = await serve(async (request, response) => {
      const body = new URLSearchParams((await request.toArray()).join(''))
      const isStack = body.get('Action') === 'DescribeStacks'
      if (!isStack) asked.push(body)
      const output = `<member><OutputKey>SandboxWriterRoleArn</OutputKey><OutputValue>${role}</OutputValue></member>`
      const stack = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${role && output}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`
      const given = `<AssumeRoleResponse><AssumeRoleResult><Credentials>${credentials.join('')}</Credentials></AssumeRoleResult></AssumeRoleResponse>`
      const [code, message] = refusal ?? []
      const error = `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`
      response.writeHead(!isStack && code ? 403 : 200, { 'content-type': 'text/xml' })
      response.end(isStack ? stack : code ? error : given)
    })
    const endpoints = { AWS_ENDPOINT_URL_STS: endpoint, AWS_ENDPOINT_URL_CLOUDFORMATION: endpoint }
    return runAdmin(['containers', 'grant', ...args], { ...environment(), ...endpoints })
  }

  it('asks STS for the role of the stack, narrowed to the files of that container', async () => {
    const { code, stderr } = await grantFrom({}, 'sess_own', '--workspace', 'ws_demo', '--for', '90m')
    expect([code, stderr]).toEqual([0, `They reach local-sandboxes/sandboxes/ws_demo/sess_own/ until ${EXPIRATION}.\n`])
    expect(asked).toHaveLength(1)
    const { Policy = '', ...others } = Object.fromEntries(asked[0] ?? [])
    expect(others).toMatchObject({ RoleArn: ROLE, RoleSessionName: 'sandbox-sess_own', DurationSeconds: '5400' })
    const bucket = 'arn:aws-cn:s3:::local-sandboxes'
    const [files, list, ...more] = JSON.parse(Policy).Statement
    expect(files.Resource).toBe(`${bucket}/sandboxes/ws_demo/sess_own/*`)
    expect(list.Resource).toBe(bucket)
    expect(list.Condition).toEqual({ StringLike: { 's3:prefix': 'sandboxes/ws_demo/sess_own/*' } })
    // The role has the keys of the bucket, and no others.
    expect(more).toMatchObject([{ Action: ['kms:Decrypt', 'kms:GenerateDataKey'], Resource: '*' }])
  })

  it('fits into what STS takes, for the longest ids', async () => {
    const [workspace, container] = ['W'.repeat(128), 'BUCKET'.padEnd(128, 'C')]
    await runAdmin(['workspaces', 'create', workspace], environment())
    expect((await grantFrom({}, container, '--workspace', workspace)).code).toBe(0)
    const { Policy = '', RoleSessionName } = Object.fromEntries(asked[0] ?? [])
    expect(Policy.length).toBeLessThanOrEqual(2048)
    const resources = JSON.parse(Policy).Statement.map(({ Resource }: { Resource: string }) => Resource)
    const bucket = 'arn:aws-cn:s3:::local-sandboxes'
    expect(resources).toEqual([`${bucket}/sandboxes/${workspace}/${container}/*`, bucket, '*'])
    expect(RoleSessionName).toHaveLength(64)
  })

  it('prints them for a shell, for credential_process, and by --json for a program', async () => {
    const form = (...args: string[]) => grantFrom({}, 'sess_own', '--workspace', 'ws_demo', ...args)
    const { stdout } = await form()
    const seen = await run('sh', ['-c', `${stdout}env`])
    expect(seen.stdout.split('\n')).toEqual(
      expect.arrayContaining([
        `AWS_ACCESS_KEY_ID=${SECRET.AccessKeyId}`,
        `AWS_SECRET_ACCESS_KEY=${SECRET.SecretAccessKey}`,
        `AWS_SESSION_TOKEN=${SECRET.SessionToken}`,
        `AWS_REGION=${CALLER.AWS_REGION}`,
        'SANDBOX_BUCKET=local-sandboxes',
        'SANDBOX_PREFIX=sandboxes/ws_demo/sess_own/',
      ]),
    )
    const given = { ...SECRET, Expiration: EXPIRATION }
    expect(JSON.parse((await form('--form', 'process')).stdout)).toEqual({ Version: 1, ...given })
    const place = { bucket: 'local-sandboxes', prefix: 'sandboxes/ws_demo/sess_own/', region: CALLER.AWS_REGION }
    expect(jsonLines(await form('--json'))).toEqual([{ ...given, ...place }])
  })

  it.each([
    ['no role', { role: '' }, 'deploy it with the setting sandboxWriters'],
    [
      'role chaining',
      {
        refusal: [
          'ValidationError',
          'The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining',
        ],
      },
      'Whoever has assumed a role gets 1h at most',
    ],
    [
      'not trusted',
      { refusal: ['AccessDenied', 'User is not authorized to perform: sts:AssumeRole'] },
      'Is the role in sandboxWriters, and may it do this? User is not',
    ],
    ['too many tags', { refusal: ['PackedPolicyTooLarge', '104%'] }, 'session tags off (disableSessionTags): 104%'],
  ] as const)('%s: exit code 2, in words, and no credentials', async (_, answers, why) => {
    const { code, stdout, stderr } = await grantFrom(answers as never, 'sess_own', '--workspace', 'ws_demo')
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(why)])
  })

  it.each(['14m', '13h'])('refuses %s without asking', async (life) => {
    const result = await runAdmin(
      ['containers', 'grant', 'c', '--workspace', 'w', '--for', life],
      environmentOn(NOBODY),
    )
    expect(result).toEqual({
      code: 2,
      stdout: '',
      stderr: `"${life}" is not possible: from 15m to 12h, in whole seconds\n`,
    })
  })

  it('gives what the local service takes, never the credentials of the environment', async () => {
    const own = { AWS_ACCESS_KEY_ID: 'own-key-id', AWS_SECRET_ACCESS_KEY: 'mine' }
    const local = ['--local', '--directory', service().directory, 'containers', 'grant', 'sess_demo-r4k2']
    const { code, stdout, stderr } = await runAdmin(local, own)
    expect([code, stderr]).toEqual([0, 'The local S3 has no STS: these reach everything in it, for ever.\n'])
    expect(stdout).not.toMatch(/own-key-id|mine/)
    const { demo } = service()
    expect(jsonLines(await runAdmin([...local, '--json'], own))[0]).toEqual({
      ...{ AccessKeyId: 'local', SecretAccessKey: 'local', region: 'us-east-1', endpoint: demo.s3_endpoint },
      ...{ bucket: demo.sandbox_bucket, prefix: `sandboxes/ws_demo/${demo.container_id}/` },
    })
  })
})
