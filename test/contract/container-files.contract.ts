import { beforeEach, describe, expect, it } from 'vitest'
import type { ContainerFiles, ListedContainerFile } from '../../lib/files/container-files.ts'
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

    const list = async (request: { afterKey?: string; pageSize?: number } = {}): Promise<ListedContainerFile[]> => {
      const listed = []
      const query = { keyPrefix, afterKey: request.afterKey, pageSize: request.pageSize ?? 1000 }
      for await (const file of harness.containerFiles.listContainerFiles(query, signal)) listed.push(file)
      return listed
    }
    const pathsOf = (files: ListedContainerFile[]) => files.map(({ objectKey }) => objectKey.slice(keyPrefix.length))

    it('lists nothing where there is nothing', async () => {
      expect(await list()).toEqual([])
    })

    it('lists each file with the size and time that lookup gives', async () => {
      await harness.put(`${keyPrefix}a.txt`, Buffer.from('12345'))
      const [file] = await list()
      const found = await harness.containerFiles.findContainerFile(`${keyPrefix}a.txt`, signal)
      expect(file).toMatchObject({ objectKey: `${keyPrefix}a.txt`, sizeBytes: 5 })
      expect(found).toMatchObject({ objectKey: `${keyPrefix}a.txt`, sizeBytes: 5 })
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
    it.each([1, 5, 1000])('lists every key by its bytes, odd ones, too, %i at once', async (pageSize) => {
      for (const path of ODD) await harness.put(keyPrefix + path, Buffer.from('x'))
      const expected = ODD.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      expect(pathsOf(await list({ pageSize }))).toEqual(expected)
      const after = expected[3] as string
      expect(pathsOf(await list({ pageSize, afterKey: keyPrefix + after }))).toEqual(expected.slice(4))
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
