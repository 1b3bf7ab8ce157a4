import { describe, expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { jsonLines, runAdmin } from '../support/machine/admin.ts'
import { run } from '../support/machine/program.ts'
import { useContainers } from '../support/machine/use-containers.ts'

const MIB = 1024 ** 2
const { service, s3, admin, environment, write, pathsIn } = useContainers()

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
