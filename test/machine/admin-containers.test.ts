import { describe, expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { jsonLines, runAdmin } from '../support/machine/admin.ts'
import { run } from '../support/machine/program.ts'
import { useContainers } from '../support/machine/use-containers.ts'

const MIB = 1024 ** 2
const { service, s3, admin, environment, write, pathsIn } = useContainers()

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

  it('takes no notice of the AWS credentials that a developer has', async () => {
    const env = { AWS_PROFILE: 'work', AWS_ACCESS_KEY_ID: 'mine', AWS_SECRET_ACCESS_KEY: 'x', AWS_SESSION_TOKEN: 'x' }
    const line = ['--local', '--directory', service().directory, 'containers', 'list', 'sess_demo-r4k2']
    const { code, stdout, stderr } = await runAdmin(line, env)
    expect([code, stdout], stderr).toEqual([0, expect.stringContaining('output/report.csv')])
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

  it('show a name with a line break in one line, and escape in JSON what could hide it', async () => {
    for (const path of ['a\nb: removed', 'c\u202e'])
      await service().putFile('ws_demo' as never, 'sess_odd', path, Buffer.alloc(1))
    expect((await admin('list', 'sess_odd', '--json')).stdout).toContain('"path":"c\\u202e"')
    const { stderr } = await admin('remove', 'sess_odd', '--yes')
    expect(stderr).toBe('a\\nb: removed: removed, 1 bytes.\nc\\u{202e}: removed, 1 bytes.\n')
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
    const url = `${s3().endpoint}/${bucket}`
    expect(printed).toEqual({
      ...ids,
      url: expect.stringMatching(`^${url}/?$`),
      max_bytes: 100 * MIB,
      expires_at: expect.stringMatching(/:\d\d\.000Z$/),
    })
  })

  it.each([
    [['../a'], 'contains an empty, "." or ".." segment'],
    [['x'.repeat(1000)], 'and S3 allows 1024'],
    [[`a/\${filename}`], 'means something else in a form of S3'],
    [['a', '--max-bytes', '6GiB'], 'only files of up to '],
    [['a', '--for', '8d'], 'is not possible: from 1s to 7d'],
  ])('refuses %j', async (args, why) => {
    const { code, stdout, stderr } = await admin('upload-url', 'sess_form', ...args)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(why)])
  })
})
