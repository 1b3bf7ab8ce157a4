import { beforeEach, describe, expect, it } from 'vitest'
import type { ContainerFiles, ListedContainerFile } from '../../lib/containers/container-files.ts'
import { newAttemptId } from '../../lib/ids.ts'

const { signal } = new AbortController()

export interface ContainerFilesHarness {
  containerFiles: ContainerFiles
  put(key: string, bytes: Buffer): Promise<void>
}

export function describeContainerFiles(name: string, make: () => ContainerFilesHarness): void {
  describe(`container files: ${name}`, () => {
    let harness: ContainerFilesHarness
    let keyPrefix: string
    beforeEach(() => {
      harness = make()
      keyPrefix = `sandboxes/ws_1/${newAttemptId()}/`
    })

    const pagesOf = (request: { afterKey?: string; firstPage?: number } = {}) => {
      const query = { afterKey: undefined, firstPage: 1000, ...request, keyPrefix }
      return Array.fromAsync(harness.containerFiles.listContainerFiles(query, signal))
    }
    const list = async (request: Parameters<typeof pagesOf>[0] = {}) =>
      (await pagesOf(request)).flatMap(({ files }) => files)
    const pathsOf = (files: ListedContainerFile[]) => files.map(({ objectKey }) => objectKey.slice(keyPrefix.length))

    it('lists each file with the size, ETag and time that lookup gives', async () => {
      await harness.put(`${keyPrefix}a.txt`, Buffer.from('12345'))
      const [file] = await list()
      const found = await harness.containerFiles.findContainerFile(`${keyPrefix}a.txt`, signal)
      expect(file).toMatchObject({ objectKey: `${keyPrefix}a.txt`, sizeBytes: 5 })
      expect(found).toMatchObject({ objectKey: `${keyPrefix}a.txt`, sizeBytes: 5 })
      expect(file?.etag).toMatch(/^"[0-9a-f]{32}"$/)
      expect(file?.etag).toBe(found?.etag)
      expect(Math.floor((file?.modifiedAt.getTime() ?? 0) / 1000)).toBe(
        Math.floor((found?.modifiedAt.getTime() ?? 1) / 1000),
      )
    })

    const ODD = [
      'dir/',
      'a b.txt',
      'a+b.txt',
      '100%25.txt',
      'what?#&=.txt',
      '<tag>"quoted".txt',
      'é.txt',
      'e\u0301.txt',
      '結果.txt',
      '\uff5e.txt',
      '📄.txt',
      'tab\there.txt',
      `it's (100~!).txt`,
    ]
    it.each([1, 5, 1000])(
      'lists every key by its bytes, odd ones, too, the first %i of them at once',
      async (firstPage) => {
        for (const path of ODD) await harness.put(keyPrefix + path, Buffer.from('x'))
        const expected = ODD.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        expect(pathsOf(await list({ firstPage }))).toEqual(expected)
        const after = expected[3] as string
        expect(pathsOf(await list({ firstPage, afterKey: keyPrefix + after }))).toEqual(expected.slice(4))
      },
    )

    it('says which page is the last', async () => {
      for (const path of ['a', 'b', 'c']) await harness.put(keyPrefix + path, Buffer.from('x'))
      const told = async (firstPage: number) =>
        (await pagesOf({ firstPage })).map(({ files, isLast }) => [...pathsOf(files), isLast])
      expect(await told(3)).toEqual([['a', 'b', 'c', true]])
      expect(await told(2)).toEqual([
        ['a', 'b', false],
        ['c', true],
      ])
    })

    it('goes on behind a key that is not there', async () => {
      for (const path of ['a', 'c']) await harness.put(keyPrefix + path, Buffer.from('x'))
      expect(pathsOf(await list({ afterKey: `${keyPrefix}b` }))).toEqual(['c'])
    })

    it('shows nothing of a container whose id begins alike', async () => {
      await harness.put(`${keyPrefix.slice(0, -1)}-r1/a`, Buffer.from('x'))
      expect(await list()).toEqual([])
    })
  })
}
