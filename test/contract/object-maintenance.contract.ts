import { expect, it } from 'vitest'
import { newAttemptId } from '../../lib/ids.ts'
import type { ObjectStoreOfTest } from '../support/stores/use-object-store.ts'

const { signal } = new AbortController()

/** The part of the contract of the object store that only resolver and audit need. */
export function describeObjectMaintenance(on: ObjectStoreOfTest): void {
  const { put, newTarget, copyTo } = on

  const all = <Element>(elements: AsyncIterable<Element>) => Array.fromAsync(elements)
  const keysOf = (objects: { objectKey: string }[]) => objects.map(({ objectKey }) => objectKey)

  it('lists objects under a prefix by ascending key, with their sizes', async () => {
    const source = await put('a.txt')
    const workspacePrefix = `documents/ws_${newAttemptId()}/`
    const keys = ['file_b/1', 'file_a/2', 'file_ab/1', 'file_a/1'].map((name) => workspacePrefix + name)
    for (const key of keys) await copyTo(source, key)
    expect(await all(on.harness.store.listObjects(workspacePrefix, signal))).toEqual(
      keys.toSorted().map((objectKey) => ({ objectKey, sizeBytes: 7 })),
    )
    expect(await on.harness.store.hasObject(keys[0] as string, signal)).toBe(true)
    expect(await on.harness.store.hasObject(`${keys[0]}1`, signal)).toBe(false)
    expect(await all(on.harness.store.listPrefixes(workspacePrefix, signal))).toEqual(
      ['file_a/', 'file_ab/', 'file_b/'].map((name) => workspacePrefix + name),
    )
  })

  it('describes an object by its size, and by the SHA-256 that its copy told', async () => {
    const objectKey = newTarget()
    const { sha256 } = await copyTo(await put('a.txt'), objectKey)
    expect(sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(await on.harness.store.describeObject(objectKey, signal)).toEqual({ sizeBytes: 7, sha256 })
    expect(await on.harness.store.describeObject(`${objectKey}1`, signal)).toBeUndefined()
  })

  it('goes on with a listing behind any object or folder', async () => {
    const source = await put('a.txt')
    const prefix = `documents/ws_${newAttemptId()}/`
    const keys = ['ws_a-/1', 'ws_a/1', 'ws_a/2', 'ws_a0/1', 'ws_ab/1', 'ws_b/1'].map((name) => prefix + name)
    for (const key of keys) await copyTo(source, key)
    for (const [index, key] of keys.entries()) {
      expect(keysOf(await all(on.harness.store.listObjects(prefix, signal, key)))).toEqual(keys.slice(index + 1))
    }
    const folders = ['ws_a-/', 'ws_a/', 'ws_a0/', 'ws_ab/', 'ws_b/'].map((name) => prefix + name)
    for (const [index, folder] of folders.entries()) {
      expect(await all(on.harness.store.listPrefixes(prefix, signal, folder))).toEqual(folders.slice(index + 1))
    }
  })

  it('lists more objects than fit into one page of S3', async () => {
    const source = await put('a.txt')
    const workspacePrefix = `documents/ws_${newAttemptId()}/`
    const keys = Array.from({ length: 1001 }, (_, index) => `${workspacePrefix}file_${1000 + index}/1`)
    for (let from = 0; from < keys.length; from += 50) {
      await Promise.all(keys.slice(from, from + 50).map((key) => copyTo(source, key)))
    }
    expect(keysOf(await all(on.harness.store.listObjects(workspacePrefix, signal)))).toEqual(keys)
  })

  it('lists unfinished uploads, and aborts those of one key without touching its object', async () => {
    const [one, other] = [newTarget(), newTarget()]
    await copyTo(await put('a.txt'), one)
    for (const key of [one, one, other]) await on.harness.beginUpload(key)
    const uploadsBehind = (key?: string) => all(on.harness.store.listUploads('documents/', signal, key))
    const uploads = await uploadsBehind()
    expect(keysOf(uploads).toSorted()).toEqual([one, one, other].toSorted())
    expect(Math.abs((uploads[0]?.startedAtMs ?? 0) - Date.now())).toBeLessThan(60_000)
    const ascending = [one, other].toSorted()
    expect(new Set(keysOf(await uploadsBehind(ascending[0])))).toEqual(new Set([ascending[1]]))
    expect(await uploadsBehind(ascending[1])).toEqual([])
    await on.harness.store.abortUploads(one, signal)
    expect(keysOf(await uploadsBehind())).toEqual([other])
    expect(await on.harness.store.hasObject(one, signal)).toBe(true)
    await on.harness.store.discard(other, signal)
  })
}
