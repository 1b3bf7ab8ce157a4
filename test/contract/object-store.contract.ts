import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ContainerFile } from '../../lib/containers/container-files.ts'
import { patternBytes } from '../support/stores/pattern-bytes.ts'
import { COPY_SETTINGS, type ObjectStoreHarness, useObjectStore } from '../support/stores/use-object-store.ts'
import { describeObjectMaintenance } from './object-maintenance.contract.ts'

const MIB = 1024 * 1024
const { signal } = new AbortController()

const HARD_NAMES = [
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
    const on = useObjectStore(make)
    const { put, newTarget, copy, copyTo } = on

    it('looks a file up with its size and type', async () => {
      expect(await put('a.csv', { bytes: Buffer.from('1,2,3'), contentType: 'text/csv' })).toMatchObject({
        objectKey: `${on.prefix}a.csv`,
        sizeBytes: 5,
        contentType: 'text/csv',
        isArchived: false,
      })
    })

    it('finds no file where there is none, nor where a directory is', async () => {
      await put('dir/a.txt')
      for (const path of ['b.txt', 'dir', 'dir/', 'dir/a.txt/more', 'DIR/a.txt']) {
        expect(await on.harness.store.findContainerFile(on.prefix + path, signal), path).toBeUndefined()
      }
    })

    it('reads the beginning of a file, and all of a shorter one', async () => {
      const read = async (file: ContainerFile) =>
        Buffer.from(await on.harness.store.readStart(file, 4, signal)).toString()
      expect(await read(await put('a.txt', { bytes: Buffer.from('123456') }))).toBe('1234')
      expect(await read(await put('b.txt', { bytes: Buffer.from('12') }))).toBe('12')
      expect(await read(await put('c.txt', { bytes: Buffer.alloc(0) }))).toBe('')
    })

    it('tells whether a container has any file', async () => {
      await put('a.txt')
      expect(await on.harness.store.hasContainer(on.prefix, signal)).toBe(true)
      await put('another.txt')
      expect(await on.harness.store.hasContainer(on.prefix, signal)).toBe(true)
      expect(await on.harness.store.hasContainer(`${on.prefix.slice(0, -2)}/`, signal)).toBe(false)
      expect(await on.harness.store.hasContainer('sandboxes/ws_1/unknown/', signal)).toBe(false)
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
    it.each(sizes)('copies %s byte by byte, and tells the SHA-256 where it can', async (_, sizeBytes) => {
      const [bytes, objectKey] = [patternBytes(sizeBytes), newTarget()]
      const { sha256 } = await copyTo(await put('some.bin', { bytes }), objectKey, 'application/x-pattern')
      const isTold = on.harness.store.copiesWhole(sizeBytes)
      expect(sha256).toBe(isTold ? createHash('sha256').update(bytes).digest('hex') : undefined)
      const copied = await on.harness.readDocument(objectKey)
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
      const room = 1024 - Buffer.byteLength(on.prefix)
      const path = char.repeat(Math.floor(room / Buffer.byteLength(char)))
      const padded = path + 'x'.repeat(room - Buffer.byteLength(path))
      expect(Buffer.byteLength(on.prefix + padded)).toBe(1024)
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
      const objectKey = newTarget()
      await expect(copyTo(source, objectKey)).rejects.toMatchObject({ reason: 'container_file_changed' })
      await on.harness.store.discard(objectKey, signal)
      expect(await on.harness.documentKeys()).not.toContain(objectKey)
    })

    it('discards an object, once or twice, and nothing beside it', async () => {
      const source = await put('a.txt')
      const [one, other] = [newTarget(), newTarget()]
      for (const target of [one, other]) await copyTo(source, target)
      for (let times = 0; times < 2; times++) await on.harness.store.discard(one, signal)
      expect(await on.harness.readDocument(one)).toBeUndefined()
      expect((await on.harness.readDocument(other))?.bytes.toString()).toBe('content')
    })

    describeObjectMaintenance(on)
  })
}
