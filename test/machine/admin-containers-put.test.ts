import { createHash, randomBytes } from 'node:crypto'
import { truncateSync } from 'node:fs'
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { jsonLines, ROOT, runAdmin, runAdminProcess } from '../support/machine/admin.ts'
import { run } from '../support/machine/program.ts'
import { useContainers } from '../support/machine/use-containers.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const { service, directory, s3, admin, environment, write, pathsIn } = useContainers()
const put = (...args: string[]) => admin('put', '--container', ...args)

describe('npm run admin -- containers put', () => {
  it('takes no notice of the AWS credentials that a developer has', async () => {
    const env = { AWS_PROFILE: 'work', AWS_ACCESS_KEY_ID: 'mine', AWS_SECRET_ACCESS_KEY: 'x', AWS_SESSION_TOKEN: 'x' }
    const line = [
      '--local',
      '--directory',
      service().directory,
      'containers',
      'put',
      'LICENSE',
      '--container',
      'sess_mine',
    ]
    const { code, stdout, stderr } = await runAdmin(line, env)
    expect([code, stdout], stderr).toEqual([0, expect.stringContaining('LICENSE')])
  })

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

  it('puts all of them where nobody reads what it prints', async () => {
    const files = await Promise.all(['unread/a.txt', 'unread/b.txt', 'unread/c.txt'].map((name) => write(name)))
    const line = `--local --directory ${service().directory} containers put --container sess_unread ${files.join(' ')}`
    const command = `${process.execPath} ${join(ROOT, 'infra/cli/main.ts')} ${line}`
    await run('bash', ['-c', `set -o pipefail; ${command} 2>&1 | true`])
    expect(await pathsIn('sess_unread')).toEqual(['a.txt', 'b.txt', 'c.txt'])
  })

  it('finds a directory that is named by a dot, and overwrites what was there', async () => {
    await write('dotted/a.txt', 'first')
    const dotted = join(directory(), 'dotted')
    expect((await put('sess_dot', `${dotted}/.`)).code).toBe(0)
    await write('dotted/a.txt', 'second')
    expect((await put('sess_dot', `${dotted}/.`)).code).toBe(0)
    expect(await pathsIn('sess_dot')).toEqual(['a.txt'])
    const object = { Bucket: service().demo.sandbox_bucket, Key: 'sandboxes/ws_demo/sess_dot/a.txt' }
    const { Body, ContentType } = await service().s3.getObject(object)
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
    const { Uploads = [] } = await service().s3.listMultipartUploads({ Bucket: service().demo.sandbox_bucket })
    return Uploads.length
  }

  const FORBIDDEN = { kind: 'answer', status: 403, body: '<Error><Code>AccessDenied</Code></Error>' } as const

  it('uploads a large file in parts, and repeats a part that failed', async () => {
    let failures = 0
    s3().fault = ({ path }) => (path.includes('partNumber=2') && failures++ < 2 ? { kind: 'refuse' } : undefined)
    const file = await write('large.bin', LARGE)
    const args = ['containers', 'put', file, '--container', 'sess_large', '--workspace', 'ws_demo']
    const result = await runAdmin(args, environment())
    s3().fault = () => undefined
    expect([result.code, failures], result.stderr).toEqual([0, 3])
    const object = { Bucket: service().demo.sandbox_bucket, Key: 'sandboxes/ws_demo/sess_large/large.bin' }
    const { Body } = await service().s3.getObject(object)
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
    await service().s3.putObject({ ...object, Body: 'before' })
    const file = await write('cut.bin', LARGE)
    const interruption = Promise.withResolvers<void>()
    const opened = Promise.withResolvers<number>()
    s3().fault = ({ method, path }) => {
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
    s3().fault = () => undefined
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(why)])
    if (end === 'Ctrl-C') expect(await opened.promise).toBe(1)
    const { Body } = await service().s3.getObject(object)
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
    ['missing.txt', 'missing.txt cannot be read: no such file or directory.'],
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

  it('a full disk: exit code 2, one line that says why, and a repetition mends it', async () => {
    const body = '<Error><Code>InternalError</Code><Message>ENOSPC on the machine of the embedded S3.</Message></Error>'
    const args = ['containers', 'put', await write('later.txt'), '--container', 'sess_later', '--workspace', 'ws_demo']
    s3().fault = ({ method }) => (method === 'PUT' ? { kind: 'answer', status: 500, body } : undefined)
    const { code, stdout, stderr } = await runAdmin(args, environment())
    s3().fault = () => undefined
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('ENOSPC on the machine of the embedded S3.')
    expect(stderr.trim()).not.toContain('\n')
    expect((await runAdmin(args, environment())).code).toBe(0)
  })
})
