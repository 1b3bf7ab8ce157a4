import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { truncateSync } from 'node:fs'
import { chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { jsonLines, ROOT, runAdmin, runAdminProcess } from '../support/machine/admin.ts'
import { useService } from '../support/machine/services.ts'
import { type FaultProxy, startFaultProxy } from '../support/protocol/fault-proxy.ts'
import { CALLER, denyEverything, environmentOn, NOBODY, useServers } from '../support/stores/aws-endpoints.ts'
import { useDirectory } from '../support/use-directory.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const run = promisify(execFile)
const LIMIT = { MAX_FILE_BYTES: `${5 * GIB}` }
const service = useService()
const serve = useServers()
const directory = useDirectory('put')
let s3: FaultProxy
beforeAll(async () => {
  s3 = await startFaultProxy(service().demo.s3_endpoint)
})
afterAll(() => s3.stop())

const admin = (...args: string[]) => runAdmin(['--local', '--directory', service().directory, 'containers', ...args])
const put = (...args: string[]) => admin('put', '--container', ...args)
/** The command line on the same stores, with S3 behind a proxy. */
const environment = () => ({ ...environmentOn(service().demo.dynamodb_endpoint, s3.endpoint), ...LIMIT })

async function write(name: string, content: string | Buffer = name): Promise<string> {
  const file = join(directory(), name)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, content)
  return file
}

/** @returns the paths of all objects of a container of the demonstration's workspace, whatever their names */
async function pathsIn(container: string): Promise<string[]> {
  const Prefix = `sandboxes/ws_demo/${container}/`
  const page = await service().s3.send(new ListObjectsV2Command({ Bucket: service().demo.sandbox_bucket, Prefix }))
  return (page.Contents ?? []).map(({ Key = '' }) => Key.slice(Prefix.length))
}

describe('npm run admin -- containers put', () => {
  it('puts files and directories as cp -r does, and prints a line that promotes the first', async () => {
    await write('out/report.csv', 'a;b\n')
    await write('out/deep/ünï code.txt')
    await write('out/empty.bin', '')
    await symlink('report.csv', join(directory(), 'out/link.csv'))
    const one = await write('one.json', '{}')
    const { code, stdout, stderr } = await put('sess_put', one, join(directory(), 'out'))
    const paths = ['one.json', 'out/deep/ünï code.txt', 'out/empty.bin', 'out/report.csv']
    expect([code, stdout]).toEqual([0, paths.map((path) => `${formatFileId(path)}  ${path}\n`).join('')])
    expect(await pathsIn('sess_put')).toEqual(paths)
    expect(stderr).toContain('out/link.csv is left out: it is a symbolic link.')
    const line = stderr.slice(stderr.indexOf('curl '))
    expect((await run('sh', ['-c', line])).stdout).toMatch(/^HTTP\/1.1 200 OK.*application\/json.*one\.json/s)
  })

  it.each(['|', '2>&1 |'])('puts all of them where nobody reads what it prints: %s true', async (pipe) => {
    const container = `sess_unread_${pipe.length}`
    const files = await Promise.all(['unread/a.txt', 'unread/b.txt', 'unread/c.txt'].map((name) => write(name)))
    const line = [
      '--local',
      '--directory',
      service().directory,
      'containers',
      'put',
      '--container',
      container,
      ...files,
    ]
    const command = [process.execPath, join(ROOT, 'infra/cli/main.ts'), ...line].join(' ')
    await run('bash', ['-c', `set -o pipefail; ${command} ${pipe} true`])
    expect(await pathsIn(container)).toEqual(['a.txt', 'b.txt', 'c.txt'])
  })

  it('finds a directory that is named by a dot, and overwrites what was there', async () => {
    await write('dotted/a.txt', 'first')
    const dotted = join(directory(), 'dotted')
    expect((await put('sess_dot', `${dotted}/.`)).code).toBe(0)
    await write('dotted/a.txt', 'second')
    expect((await put('sess_dot', `${dotted}/.`)).code).toBe(0)
    expect(await pathsIn('sess_dot')).toEqual(['a.txt'])
    const object = { Bucket: service().demo.sandbox_bucket, Key: 'sandboxes/ws_demo/sess_dot/a.txt' }
    const { Body, ContentType } = await service().s3.send(new GetObjectCommand(object))
    expect([await Body?.transformToString(), ContentType]).toEqual(['second', expect.not.stringContaining('text')])
  })

  it('says by --json where each file is promoted', async () => {
    const file = await write('json.txt')
    const result = await put('sess_json', file, '--json')
    const fileId = formatFileId('json.txt')
    const ids = { workspace_id: 'ws_demo', container_id: 'sess_json', path: 'json.txt', file_id: fileId, size_bytes: 8 }
    const promotion_url = `${service().demo.base_url}/containers/sess_json/files/${fileId}/promote`
    expect([jsonLines(result), result.stderr]).toEqual([[{ ...ids, promotion_url }], ''])
  })

  const LARGE = randomBytes(33 * MIB + 17)
  const uploads = async () => {
    const { Uploads = [] } = await service().s3.send(
      new ListMultipartUploadsCommand({ Bucket: service().demo.sandbox_bucket }),
    )
    return Uploads.length
  }

  const FORBIDDEN = { kind: 'answer', status: 403, body: '<Error><Code>AccessDenied</Code></Error>' } as const

  it('uploads a large file in parts, and repeats a part that failed', async () => {
    let failures = 0
    s3.fault = ({ path }) => (path.includes('partNumber=2') && failures++ < 2 ? { kind: 'refuse' } : undefined)
    const file = await write('large.bin', LARGE)
    const args = ['containers', 'put', file, '--container', 'sess_large', '--workspace', 'ws_demo']
    const result = await runAdmin(args, environment())
    s3.fault = () => undefined
    expect([result.code, failures], result.stderr).toEqual([0, 3])
    const object = { Bucket: service().demo.sandbox_bucket, Key: 'sandboxes/ws_demo/sess_large/large.bin' }
    const { Body } = await service().s3.send(new GetObjectCommand(object))
    const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
    expect(hash((await Body?.transformToByteArray()) ?? new Uint8Array())).toBe(hash(LARGE))
    expect(await uploads()).toBe(0)
  })

  it.each([
    ['Ctrl-C', /^Stopped by SIGINT\.\n$/],
    ['a failure', /^AWS refuses this [^\n]*\n$/],
    ['a file that became shorter', /^[^\n]*cut\.bin became shorter as it was read\.\n$/],
    ['a failure that lets nothing be aborted', /^Its unfinished upload is left: [^\n]*\nAWS refuses this [^\n]*\n$/],
  ])('%s: leaves what was there and, if it can, no upload', async (end, why) => {
    const object = { Bucket: service().demo.sandbox_bucket, Key: 'sandboxes/ws_demo/sess_cut/cut.bin' }
    await service().s3.send(new PutObjectCommand({ ...object, Body: 'before' }))
    const file = await write('cut.bin', LARGE)
    const interruption = Promise.withResolvers<void>()
    const opened = Promise.withResolvers<number>()
    s3.fault = ({ method, path }) => {
      if (method === 'DELETE' && end.includes('nothing')) return FORBIDDEN
      if (!path.includes('partNumber=2')) return undefined
      if (end.startsWith('a failure')) return FORBIDDEN
      if (end !== 'Ctrl-C') return void truncateSync(file, 6 * MIB)
      opened.resolve(uploads())
      void opened.promise.then(() => interruption.resolve())
      return { kind: 'hang' }
    }
    const args = ['containers', 'put', file, '--container', 'sess_cut', '--workspace', 'ws_demo']
    const { code, stdout, stderr } = await runAdminProcess(args, environment(), interruption.promise)
    s3.fault = () => undefined
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(why)])
    if (end === 'Ctrl-C') expect(await opened.promise).toBe(1)
    const { Body } = await service().s3.send(new GetObjectCommand(object))
    expect([await Body?.transformToString(), await uploads()]).toEqual(['before', end.includes('nothing') ? 1 : 0])
  })
})

describe('npm run admin -- containers put: what cannot be', () => {
  const deep = () => join(directory(), 'deep', ...Array.from({ length: 5 }, (_, index) => `${index}`.repeat(200)))
  const make: Record<string, () => Promise<unknown>> = {
    'missing.txt': async () => {},
    'line\nfeed.txt': () => write('line\nfeed.txt'),
    'large.img': async () => truncate(await write('large.img'), 6 * GIB),
    empty: () => mkdir(join(directory(), 'empty')),
    bytes: async () => {
      await mkdir(join(directory(), 'bytes'))
      await writeFile(Buffer.concat([Buffer.from(join(directory(), 'bytes/')), Buffer.from([0x61, 0xff])]), '')
    },
    deep: async () => {
      await mkdir(deep(), { recursive: true })
      await writeFile(join(deep(), 'a'), '')
    },
    twice: () => Promise.all([write('twice'), write('other/twice')]),
  }
  it.each([
    ['missing.txt', "ENOENT: no such file or directory, lstat '"],
    ['line\nfeed.txt', 'its path in the container contains a control character.'],
    [
      'large.img',
      /large\.img has 6 GiB \(6442450944 bytes\): only files of up to .* \(\d+ bytes\) can be promoted \(maxFileBytes\)\.$/m,
    ],
    ['empty', 'There is no file in '],
    ['bytes', 'its path in the container is not valid UTF-8.'],
    ['deep', 'its path in the container makes a key of 1038 bytes, and S3 allows 1024.'],
    ['twice', 'its path in the container is also that of '],
  ])('%j: exit code 2, one line that says why, and nothing is put', async (name, why) => {
    await make[name]?.()
    const good = await write('good.txt')
    const others = name === 'empty' ? [] : [good, join(directory(), 'other', name)].slice(0, name === 'twice' ? 2 : 1)
    const { code, stdout, stderr } = await put('sess_bad', ...others, join(directory(), name))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(why)
    expect(stderr.trim()).not.toContain('\n')
    expect(await pathsIn('sess_bad')).toEqual([])
  })

  it('a directory that may not be read: exit code 2, one line that says why, and nothing is put', async () => {
    const good = await write('good.txt')
    const locked = await write('locked/a.txt')
    const args = ['containers', 'put', good, join(locked, '..'), '--container', 'sess_locked', '--workspace', 'ws_demo']
    // Before the change of user: some modules are loaded only then.
    await put('sess_warm', good)
    await chmod(join(locked, '..'), 0)
    await chmod(directory(), 0o755)
    // Root may read everything.
    const isRoot = process.getuid?.() === 0
    if (isRoot) process.seteuid?.(65534)
    try {
      const { code, stdout, stderr } = await runAdmin(args, environment())
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^EACCES: permission denied, .*'\n$/)])
    } finally {
      if (isRoot) process.seteuid?.(0)
      await chmod(join(locked, '..'), 0o755)
    }
    expect(await pathsIn('sess_locked')).toEqual([])
  })

  const full = '<Error><Code>InternalError</Code><Message>ENOSPC on the machine of the embedded S3.</Message></Error>'
  it.each<[string, string, () => Promise<Record<string, string>>]>([
    [
      'no rights',
      'AWS refuses this',
      async () => environmentOn(service().demo.dynamodb_endpoint, await serve(denyEverything)),
    ],
    ['no bucket', 'A table or bucket is not there', async () => ({ ...environment(), SANDBOX_BUCKET: 'none' })],
    [
      'nobody answers',
      'No answer from 127.0.0.1:1',
      async () => environmentOn(service().demo.dynamodb_endpoint, NOBODY),
    ],
    [
      'a full disk',
      'ENOSPC on the machine of the embedded S3.',
      async () => {
        s3.fault = ({ method }) => (method === 'PUT' ? { kind: 'answer', status: 500, body: full } : undefined)
        return environment()
      },
    ],
  ])('%s: exit code 2, one line that says why, and a repetition mends it', async (_, why, env) => {
    const args = ['containers', 'put', await write('later.txt'), '--container', 'sess_later', '--workspace', 'ws_demo']
    const { code, stdout, stderr } = await runAdmin(args, await env())
    s3.fault = () => undefined
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(why)
    expect(stderr.trim()).not.toContain('\n')
    expect((await runAdmin(args, environment())).code).toBe(0)
    await admin('remove', 'sess_later', '--yes')
  })
})

describe('npm run admin -- containers list, remove', () => {
  it('lists files with their ids, without objects that have none', async () => {
    await service().putFile('ws_demo' as never, 'sess_list', 'b.txt', Buffer.alloc(2000))
    await service().putFile('ws_demo' as never, 'sess_list', 'a.txt', Buffer.alloc(3))
    await service().putFile('ws_demo' as never, 'sess_list', 'folder/', Buffer.alloc(0))
    const { stdout, stderr } = await admin('list', 'sess_list', '--sort', '-size')
    expect(stdout).toMatch(/^PATH +SIZE +MODIFIED +FILE ID\nb\.txt +1\.95 KiB .*cfile_\w+\na\.txt +3 B .*cfile_\w+\n$/)
    expect(stderr).toBe('')
    const [first] = jsonLines(await admin('list', 'sess_list', '--json'))
    const ids = { workspace_id: 'ws_demo', container_id: 'sess_list', path: 'a.txt', file_id: formatFileId('a.txt') }
    expect(first).toEqual({
      ...ids,
      size_bytes: 3,
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      modified_at: expect.any(String),
    })
  })

  it('removes a file, a directory, or everything, only in that container, and bears being repeated', async () => {
    const all = ['a', 'a/b', 'a/c', 'ab', 'z//', 'z']
    for (const container of ['sess_rm', 'sess_rm2']) {
      for (const path of all) await service().putFile('ws_demo' as never, container, path, Buffer.alloc(1))
    }
    const unconfirmed = await admin('remove', 'sess_rm')
    expect(unconfirmed).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^Remove 6 files of sess_rm in/),
    })
    expect(await pathsIn('sess_rm')).toHaveLength(6)

    const outcomes = async (...args: string[]) => {
      const result = await admin('remove', 'sess_rm', ...args, '--yes', '--json')
      expect(result).toMatchObject({ code: 0, stderr: '' })
      return jsonLines(result)
        .map(({ path, outcome }) => `${outcome} ${path}`)
        .toSorted()
    }
    expect(await outcomes('a', 'none')).toEqual(['absent none', 'removed a'])
    expect(await outcomes('a')).toEqual(['absent a'])
    expect(await outcomes('a/')).toEqual(['removed a/b', 'removed a/c'])
    expect(await pathsIn('sess_rm')).toEqual(['ab', 'z', 'z//'])
    expect(await outcomes()).toEqual(['removed ab', 'removed z', 'removed z//'])
    expect(await outcomes()).toEqual(['absent '])
    expect(await pathsIn('sess_rm2')).toHaveLength(6)
  })

  it('takes an empty path for a mistake', async () => {
    const refused = await admin('remove', 'sess_list', '', '--yes')
    expect(refused).toEqual({ code: 2, stdout: '', stderr: 'a path is empty\n' })
    expect(await pathsIn('sess_list')).toHaveLength(3)
  })
})

describe('npm run admin -- containers upload-url', () => {
  it('prints a form for that file, its size and its time, which curl sends', async () => {
    const path = "it's/ünï code.txt"
    const result = await admin('upload-url', 'sess_form', path, '--max-bytes', '1KiB', '--for', '2m')
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('up to 1 KiB (1024 bytes), until ')])
    const send = async (content: string) => {
      const file = await write('form.txt', content)
      const { stdout } = await run('sh', [
        '-c',
        `${result.stdout.trim().replace('FILE', file)} -s -w '%{http_code}' || true`,
      ])
      return stdout.slice(-3)
    }
    expect([await send('x'.repeat(1025)), await pathsIn('sess_form')]).toEqual(['400', []])
    expect([await send('x'.repeat(1024)), await pathsIn('sess_form')]).toEqual(['204', [path]])
  })

  it('signs these limits and nothing else', async () => {
    const startedAt = Date.now()
    const args = ['containers', 'upload-url', 'sess_form', 'a.txt', '--workspace', 'ws_demo', '--json']
    const result = await runAdmin(args, environment())
    const [{ fields, ...printed } = {}] = jsonLines(result)
    const { Policy = '', ...signed } = fields as Record<string, string>
    const { conditions, expiration } = JSON.parse(Buffer.from(Policy, 'base64').toString())
    const { key, bucket, 'X-Amz-Signature': signature, ...own } = signed
    expect([key, bucket]).toEqual(['sandboxes/ws_demo/sess_form/a.txt', service().demo.sandbox_bucket])
    expect(signature).toMatch(/^[0-9a-f]{64}$/)
    expect(conditions).toHaveLength(3 + Object.keys(own).length)
    expect(conditions).toEqual(
      expect.arrayContaining([
        ['content-length-range', 0, 100 * MIB],
        { key },
        { bucket },
        ...Object.entries(own).map((each) => Object.fromEntries([each])),
      ]),
    )
    const lifeMs = Date.parse(expiration) - startedAt
    expect(lifeMs).toBeGreaterThan(898_000)
    expect(lifeMs).toBeLessThan(930_000)
    expect(Date.parse(`${printed.expires_at}`)).toBeLessThanOrEqual(Date.parse(expiration))
    const ids = { workspace_id: 'ws_demo', container_id: 'sess_form', path: 'a.txt', file_id: formatFileId('a.txt') }
    const url = `${s3.endpoint}/${bucket}`
    expect(printed).toEqual({
      ...ids,
      url: expect.stringMatching(`^${url}/?$`),
      max_bytes: 100 * MIB,
      expires_at: expect.stringMatching(/:\d\d\.000Z$/),
    })
  })

  it.each([
    [['../a'], 'contains an empty, "." or ".." segment'],
    [['a/'], 'must be relative and name a file'],
    [['a\nb'], 'contains a control character'],
    [['x'.repeat(1000)], 'and S3 allows 1024'],
    [[`a/\${filename}`], 'means something else in a form of S3'],
    [['a', '--max-bytes', '6GiB'], 'only files of up to '],
    [['a', '--for', '8d'], 'is not from 1s to 7d'],
  ])('refuses %j', async (args, why) => {
    const { code, stdout, stderr } = await admin('upload-url', 'sess_form', ...args)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(why)])
  })
})

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
    { role = ROLE, key, refusal }: { role?: string; key?: string; refusal?: [code: string, message: string] },
    ...args: string[]
  ) {
    asked = []
    const endpoint = await serve(async (request, response) => {
      const body = new URLSearchParams((await request.toArray()).join(''))
      const isStack = body.get('Action') === 'DescribeStacks'
      if (!isStack) asked.push(body)
      const outputs = Object.entries({ SandboxWriterRoleArn: role, SandboxKmsKeyArn: key }).map(
        ([name, value]) =>
          value && `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`,
      )
      const stack = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${outputs.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`
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
    expect(more).toEqual([])
  })

  it('fits into what STS takes, for the longest ids', async () => {
    const [workspace, container] = ['W'.repeat(128), 'KEY_BUCKET'.padEnd(128, 'C')]
    await runAdmin(['workspaces', 'create', workspace], environment())
    const key = `arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-${'0'.repeat(32)}`
    expect((await grantFrom({ key }, container, '--workspace', workspace)).code).toBe(0)
    const { Policy = '', RoleSessionName } = Object.fromEntries(asked[0] ?? [])
    expect(Policy.length).toBeLessThanOrEqual(2048)
    const resources = JSON.parse(Policy).Statement.map(({ Resource }: { Resource: string }) => Resource)
    const bucket = 'arn:aws-cn:s3:::local-sandboxes'
    expect(resources).toEqual([`${bucket}/sandboxes/${workspace}/${container}/*`, bucket, key])
    expect(RoleSessionName).toHaveLength(64)
  })

  it('prints them for a shell, for a program, for credential_process, and by --json', async () => {
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
    expect(JSON.parse((await form('--form', 'json')).stdout)).toEqual({ ...given, ...place })
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
    expect(result).toEqual({ code: 2, stdout: '', stderr: `"${life}" is not from 15m to 12h\n` })
  })

  it('gives what the local service takes, never the credentials of the environment', async () => {
    const own = { AWS_ACCESS_KEY_ID: 'own-key-id', AWS_SECRET_ACCESS_KEY: 'mine' }
    const local = ['--local', '--directory', service().directory, 'containers', 'grant', 'sess_demo-r4k2']
    const { code, stdout, stderr } = await runAdmin([...local, '--form', 'json'], own)
    expect([code, stderr]).toEqual([0, 'The local S3 has no STS: these reach everything in it, for ever.\n'])
    const { demo } = service()
    expect(JSON.parse(stdout)).toEqual({
      ...{ AccessKeyId: 'local', SecretAccessKey: 'local', region: 'us-east-1', endpoint: demo.s3_endpoint },
      ...{ bucket: demo.sandbox_bucket, prefix: `sandboxes/ws_demo/${demo.container_id}/` },
    })
  })
})
