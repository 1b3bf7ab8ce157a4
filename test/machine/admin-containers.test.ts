import { describe, expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { jsonLines, runAdmin } from '../support/machine/admin.ts'
import { run } from '../support/machine/program.ts'
import { useContainers } from '../support/machine/use-containers.ts'

const { service, s3, admin, environment, write, pathsIn } = useContainers()

describe('npm run admin -- containers upload-url', () => {
  it('prints a URL for that file and its time, to which curl sends it', async () => {
    const path = "it's/ünï code.txt"
    const result = await admin('upload-url', 'sess_url', path, '--for', '2m')
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('FILE stands for the file')])
    const file = await write('note.txt', 'x'.repeat(1024))
    await run('sh', ['-c', result.stdout.trim().replace('FILE', file)])
    expect(await pathsIn('sess_url')).toEqual([path])
    const elsewhere = result.stdout.trim().replace('FILE', file).replace('code.txt', 'code.txt2')
    await expect(run('sh', ['-c', elsewhere])).rejects.toThrow('403')
    expect(await pathsIn('sess_url')).toEqual([path])
  })

  it('signs these limits and nothing else', async () => {
    const startedAt = Date.now()
    const args = ['containers', 'upload-url', 'sess_url', 'a.txt', '--workspace', 'ws_demo', '--json']
    const [{ url, ...printed } = {}] = jsonLines(await runAdmin(args, environment()))
    const { origin, pathname, searchParams } = new URL(`${url}`)
    expect(`${origin}/`).toBe(new URL(s3().endpoint).href)
    expect(pathname).toBe(`/${service().demo.sandbox_bucket}/sandboxes/ws_demo/sess_url/a.txt`)
    expect([searchParams.get('X-Amz-Expires'), searchParams.get('X-Amz-SignedHeaders')]).toEqual(['900', 'host'])
    // A checksum would be that of no bytes.
    expect([...searchParams.keys()].filter((name) => /checksum/i.test(name))).toEqual([])
    const ids = { workspace_id: 'ws_demo', container_id: 'sess_url', path: 'a.txt', file_id: formatFileId('a.txt') }
    expect(printed).toEqual({ ...ids, expires_at: expect.stringMatching(/:\d\d\.000Z$/) })
    expect(Date.parse(`${printed.expires_at}`)).toBeLessThanOrEqual(startedAt + 930_000)
  })

  it.each([
    [['../a'], 'contains an empty, "." or ".." segment'],
    [['x'.repeat(1000)], 'and S3 allows 1024'],
    [['a', '--for', '8d'], 'is not possible: from 1s to 7d'],
  ])('refuses %j', async (args, why) => {
    const { code, stdout, stderr } = await admin('upload-url', 'sess_url', ...args)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(why)])
  })
})
