import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newAttemptId } from '../../lib/ids.ts'
import type { ObjectMaintenance } from '../../lib/maintenance/object-maintenance.ts'
import type { ContainerFile, ObjectStore } from '../../lib/promotion/object-store.ts'
import type { StoredObject } from '../fakes/object-store.ts'
import { patternBytes } from '../support/pattern-bytes.ts'

const MIB = 1024 * 1024
export const COPY_SETTINGS = { multipartThresholdBytes: 10 * MIB, minPartBytes: 5 * MIB }
const { signal } = new AbortController()

export interface ObjectStoreHarness {
  store: ObjectStore & ObjectMaintenance
  /** Begins an upload of this document key and leaves it. */
  beginUpload(key: string): Promise<void>
  putSandboxFile(key: string, object: StoredObject): Promise<void>
  readDocument(key: string): Promise<StoredObject | undefined>
  /** Keys of objects and of unfinished uploads. */
  documentKeys(): Promise<string[]>
}

export const HARD_NAMES = [
  'with space.txt',
  'a+b.txt',
  '100%.txt',
  '100%25.txt',
  'what?.txt',
  '#1.txt',
  'a&b=c.txt',
  `'single' "double".txt`,
  'semi;colon:at@,dollar$.txt',
  'back\\slash|pipe^caret~tilde`.txt',
  '(paren)[bracket]{brace}<angle>!*.txt',
  'отчёт.txt',
  '結果.txt',
  '📄🧪.txt',
  'e\u0301 and \u00e9.txt',
  '\ufeffbom.txt',
  '...',
  `deep/${'d/'.repeat(60)}file.txt`,
]

export function describeObjectStore(name: string, make: () => ObjectStoreHarness): void {
  describe(`object store: ${name}`, () => {
    let harness: ObjectStoreHarness
    let prefix: string
    beforeEach(() => {
      harness = make()
      prefix = `sandboxes/ws_1/${newAttemptId()}/`
    })

    const put = async (path: string, object: Partial<StoredObject> = {}): Promise<ContainerFile> => {
      await harness.putSandboxFile(prefix + path, {
        bytes: Buffer.from('content'),
        contentType: 'text/plain',
        ...object,
      })
      const found = await harness.store.findContainerFile(prefix + path, signal)
      if (!found) throw new Error(`${prefix}${path} was stored but not found`)
      return found
    }
    const newTarget = () => `documents/ws_1/${newAttemptId()}/${newAttemptId()}`
    const copy = async (source: ContainerFile, mimeType = 'text/plain') => {
      const targetKey = newTarget()
      await harness.store.copy({ source, targetKey, mimeType }, signal)
      return harness.readDocument(targetKey)
    }

    afterEach(async () => {
      expect((await harness.documentKeys()).filter((key) => key.startsWith('unfinished:'))).toEqual([])
    })

    it('looks a file up with its size and type', async () => {
      expect(await put('a.csv', { bytes: Buffer.from('1,2,3'), contentType: 'text/csv' })).toMatchObject({
        objectKey: `${prefix}a.csv`,
        sizeBytes: 5,
        contentType: 'text/csv',
        isArchived: false,
      })
    })

    it('finds no file where there is none, nor where a directory is', async () => {
      await put('dir/a.txt')
      for (const path of ['b.txt', 'dir', 'dir/', 'dir/a.txt/more', 'DIR/a.txt']) {
        expect(await harness.store.findContainerFile(prefix + path, signal), path).toBeUndefined()
      }
    })

    it('reads the beginning of a file, and all of a shorter one', async () => {
      const read = async (file: ContainerFile) => Buffer.from(await harness.store.readStart(file, 4, signal)).toString()
      expect(await read(await put('a.txt', { bytes: Buffer.from('123456') }))).toBe('1234')
      expect(await read(await put('b.txt', { bytes: Buffer.from('12') }))).toBe('12')
      expect(await read(await put('c.txt', { bytes: Buffer.alloc(0) }))).toBe('')
    })

    it('tells whether a container has any file', async () => {
      await put('a.txt')
      expect(await harness.store.hasContainer(prefix, signal)).toBe(true)
      await put('another.txt')
      expect(await harness.store.hasContainer(prefix, signal)).toBe(true)
      expect(await harness.store.hasContainer(`${prefix.slice(0, -2)}/`, signal)).toBe(false)
      expect(await harness.store.hasContainer('sandboxes/ws_1/unknown/', signal)).toBe(false)
    })

    it('marks a file in archive storage', async () => {
      expect(await put('a.txt', { storageClass: 'GLACIER' })).toMatchObject({ isArchived: true })
    })

    const sizes: [string, number][] = [
      ['0 bytes', 0],
      ['1 byte', 1],
      ['a byte below the threshold', COPY_SETTINGS.multipartThresholdBytes - 1],
      ['exactly the threshold', COPY_SETTINGS.multipartThresholdBytes],
      ['a byte above the threshold, in two parts', COPY_SETTINGS.multipartThresholdBytes + 1],
      ['three parts of no round size', 36 * MIB + 12_345],
    ]
    it.each(sizes)('copies %s byte by byte', async (_, sizeBytes) => {
      const bytes = patternBytes(sizeBytes)
      const copied = await copy(await put('some.bin', { bytes }), 'application/x-pattern')
      expect(copied?.contentType).toBe('application/x-pattern')
      expect(copied?.bytes.equals(bytes)).toBe(true)
    })

    it.each([
      ['whole', 10],
      ['in parts', COPY_SETTINGS.multipartThresholdBytes + 1],
    ])('keeps the content encoding of a file copied %s', async (_, sizeBytes) => {
      const source = await put('a.svgz', { bytes: patternBytes(sizeBytes), contentEncoding: 'gzip' })
      expect(await copy(source, 'image/svg+xml')).toMatchObject({
        contentType: 'image/svg+xml',
        contentEncoding: 'gzip',
      })
    })

    it.each(HARD_NAMES)('copies from a key with %s', async (path) => {
      const bytes = Buffer.from(`bytes of ${path}`)
      expect((await copy(await put(path, { bytes })))?.bytes.toString()).toBe(bytes.toString())
    })

    it.each(['x', 'й', '📄'])('copies from a key of 1,024 bytes in one segment of %s', async (char) => {
      const room = 1024 - Buffer.byteLength(prefix)
      const path = char.repeat(Math.floor(room / Buffer.byteLength(char)))
      const padded = path + 'x'.repeat(room - Buffer.byteLength(path))
      expect(Buffer.byteLength(prefix + padded)).toBe(1024)
      expect((await copy(await put(padded)))?.bytes.toString()).toBe('content')
    })

    it('copies in parts from a key with reserved characters', async () => {
      const bytes = patternBytes(COPY_SETTINGS.multipartThresholdBytes + 1)
      expect((await copy(await put('a+b %20?#📄.bin', { bytes })))?.bytes.equals(bytes)).toBe(true)
    })

    it.each([
      ['whole', 10],
      ['in parts', COPY_SETTINGS.multipartThresholdBytes + 1],
    ])('refuses to copy %s what is no longer what was looked up', async (_, sizeBytes) => {
      const source = await put('a.bin', { bytes: patternBytes(sizeBytes) })
      const changed = Buffer.from(patternBytes(sizeBytes))
      changed[sizeBytes - 1] = 0
      await put('a.bin', { bytes: changed })
      const targetKey = newTarget()
      const copying = harness.store.copy({ source, targetKey, mimeType: 'text/plain' }, signal)
      await expect(copying).rejects.toMatchObject({ reason: 'container_file_changed' })
      await harness.store.discard(targetKey, signal)
      expect(await harness.documentKeys()).not.toContain(targetKey)
    })

    it('discards an object, once or twice, and nothing beside it', async () => {
      const source = await put('a.txt')
      const [one, other] = [newTarget(), newTarget()]
      for (const targetKey of [one, other])
        await harness.store.copy({ source, targetKey, mimeType: 'text/plain' }, signal)
      await harness.store.discard(one, signal)
      await harness.store.discard(one, signal)
      expect(await harness.readDocument(one)).toBeUndefined()
      expect((await harness.readDocument(other))?.bytes.toString()).toBe('content')
    })

    const all = async <Element>(elements: AsyncIterable<Element>) => {
      const list = []
      for await (const element of elements) list.push(element)
      return list
    }

    it('lists objects under a prefix by ascending key, with their sizes', async () => {
      const source = await put('a.txt')
      const workspacePrefix = `documents/ws_${newAttemptId()}/`
      const keys = ['file_b/1', 'file_a/2', 'file_ab/1', 'file_a/1'].map((name) => workspacePrefix + name)
      for (const targetKey of keys) await harness.store.copy({ source, targetKey, mimeType: 'text/plain' }, signal)
      expect(await all(harness.store.listObjects(workspacePrefix, signal))).toEqual(
        keys.toSorted().map((objectKey) => ({ objectKey, sizeBytes: 7 })),
      )
      expect(await harness.store.hasObject(keys[0] as string, signal)).toBe(true)
      expect(await harness.store.hasObject(`${keys[0]}1`, signal)).toBe(false)
      expect(await all(harness.store.listPrefixes(workspacePrefix, signal))).toEqual(
        ['file_a/', 'file_ab/', 'file_b/'].map((name) => workspacePrefix + name),
      )
    })

    it('goes on with a listing behind any object or folder', async () => {
      const source = await put('a.txt')
      const prefix = `documents/ws_${newAttemptId()}/`
      const keys = ['ws_a-/1', 'ws_a/1', 'ws_a/2', 'ws_a0/1', 'ws_ab/1', 'ws_b/1'].map((name) => prefix + name)
      for (const targetKey of keys) await harness.store.copy({ source, targetKey, mimeType: 'text/plain' }, signal)
      for (const [index, key] of keys.entries()) {
        const listed = await all(harness.store.listObjects(prefix, signal, key))
        expect(listed.map(({ objectKey }) => objectKey)).toEqual(keys.slice(index + 1))
      }
      const folders = ['ws_a-/', 'ws_a/', 'ws_a0/', 'ws_ab/', 'ws_b/'].map((name) => prefix + name)
      for (const [index, folder] of folders.entries()) {
        expect(await all(harness.store.listPrefixes(prefix, signal, folder))).toEqual(folders.slice(index + 1))
      }
    })

    it('lists more objects than fit into one page of S3', async () => {
      const source = await put('a.txt')
      const workspacePrefix = `documents/ws_${newAttemptId()}/`
      const keys = Array.from(
        { length: 1001 },
        (_, index) => `${workspacePrefix}file_${String(index).padStart(4, '0')}/1`,
      )
      for (let from = 0; from < keys.length; from += 50) {
        await Promise.all(
          keys
            .slice(from, from + 50)
            .map((targetKey) => harness.store.copy({ source, targetKey, mimeType: 'text/plain' }, signal)),
        )
      }
      const listed = await all(harness.store.listObjects(workspacePrefix, signal))
      expect(listed.map(({ objectKey }) => objectKey)).toEqual(keys)
    })

    it('lists unfinished uploads, and aborts those of one key without touching its object', async () => {
      const [one, other] = [newTarget(), newTarget()]
      await harness.store.copy({ source: await put('a.txt'), targetKey: one, mimeType: 'text/plain' }, signal)
      for (const key of [one, one, other]) await harness.beginUpload(key)
      const uploads = await all(harness.store.listUploads('documents/', signal))
      expect(uploads.map(({ objectKey }) => objectKey).toSorted()).toEqual([one, one, other].toSorted())
      expect(Math.abs((uploads[0]?.startedAtMs ?? 0) - Date.now())).toBeLessThan(60_000)
      const ascending = [one, other].toSorted()
      const behind = await all(harness.store.listUploads('documents/', signal, ascending[0]))
      expect(new Set(behind.map(({ objectKey }) => objectKey))).toEqual(new Set([ascending[1]]))
      expect(await all(harness.store.listUploads('documents/', signal, ascending[1]))).toEqual([])
      await harness.store.abortUploads(one, signal)
      expect((await all(harness.store.listUploads('documents/', signal))).map(({ objectKey }) => objectKey)).toEqual([
        other,
      ])
      expect(await harness.store.hasObject(one, signal)).toBe(true)
      await harness.store.discard(other, signal)
    })
  })
}
