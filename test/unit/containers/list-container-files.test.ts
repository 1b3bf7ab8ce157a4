import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ContainerFiles } from '../../../lib/containers/container-files.ts'
import { formatKeyCursor, parseKeyCursor } from '../../../lib/containers/key-cursor.ts'
import { listContainerFiles } from '../../../lib/containers/list-container-files.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { filePathOf, type WorkspaceId } from '../../../lib/ids.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { assertProperty } from '../../support/assert-property.ts'
import { CONFIG } from '../../support/dynamodb/memory-tables.ts'

const { signal } = new AbortController()
const workspaceId = 'ws_1' as WorkspaceId
const objectKeys = createObjectKeys(CONFIG.keyTemplates)
const keyPrefix = 'sandboxes/ws_1/sess_1/'

describe('a page of container files', () => {
  const file = (path: string) => ({ objectKey: keyPrefix + path, sizeBytes: 1, modifiedAt: new Date(0) })
  const outOfTime = () => new ServiceError('request_timed_out')
  type Query = { afterKey: string | undefined; firstPage: number }
  /** @param make the pages that S3 answers to a query, each an array of paths, and perhaps a failure in the end */
  const listFrom = (make: (query: Query) => Iterable<string[] | Error>) => {
    const containerFiles = {
      async *listContainerFiles(query: Query) {
        const pages = [...make(query)]
        for (const [number, page] of pages.entries()) {
          if (page instanceof Error) throw page
          yield { files: page.map(file), isLast: number === pages.length - 1 }
        }
      },
    } as Partial<ContainerFiles> as ContainerFiles
    const place = { workspaceId, containerId: 'sess_1', after: undefined }
    return (request: { limit: number; after?: string | undefined }) =>
      listContainerFiles({ ...place, ...request }, { containerFiles, objectKeys }, signal)
  }
  const pathsOf = (items: { path: string }[]) => items.map(({ path }) => path)

  it('begins with a key more than it shows, to know whether there are more', async () => {
    const asked: unknown[] = []
    await listFrom((query) => [asked.push(query)].map(() => []))({ limit: 20 })
    expect(asked).toEqual([{ keyPrefix, afterKey: undefined, firstPage: 21 }])
  })

  it.each([
    ['S3 answers nothing in time', [outOfTime()], 'service_unavailable'],
    ['S3 answers with empty pages only', Array.from({ length: 11 }, () => []), 'service_unavailable'],
    ['the request is refused', [['a'], new ServiceError('rate_limited')], 'rate_limited'],
    ['S3 refuses a later page', [['a'], Object.assign(new Error(), { reason: 'AccessDenied' })], 'AccessDenied'],
  ])('fails when %s', async (_, pages, reason) => {
    await expect(listFrom(() => pages)({ limit: 5 })).rejects.toMatchObject({ reason })
  })

  it('is the last when no other file follows that can be named', async () => {
    const { items, next } = await listFrom(() => [['a', 'b', 'x\ty']])({ limit: 2 })
    expect([pathsOf(items), next]).toEqual([['a', 'b'], undefined])
  })

  it('shows each file once, and all, wherever pages end', async () => {
    const nameable = fc.constantFrom('a', 'b', 'é', '結果', 'b/c')
    const path = fc.array(fc.oneof(nameable, fc.constantFrom('\u0085', '.', '', 'x\ty')), {
      minLength: 1,
      maxLength: 3,
    })
    const paths = fc.uniqueArray(
      path.map((segments) => segments.join('/')),
      { maxLength: 30 },
    )
    const oneRun = async (all: string[], limit: number, cuts: number[]) => {
      const keys = all.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      const expected = keys.filter((key) => filePathOf(key) !== undefined)
      let requests = 0
      const list = listFrom(function* ({ afterKey = keyPrefix, firstPage }) {
        const after = Buffer.from(afterKey.slice(keyPrefix.length))
        const rest = keys.filter((key) => Buffer.compare(Buffer.from(key), after) > 0)
        // The first page, then pages of two, and a failure somewhere behind the first.
        for (let page = 0, left = cuts[requests++ % cuts.length] ?? 9; page === 0 || rest.length > 0; page++) {
          if (page > 0 && left-- === 0) return yield outOfTime()
          yield rest.splice(0, page === 0 ? firstPage : 2)
        }
      })
      const shown: string[] = []
      for (let after: string | undefined, page = 0; page < 200; page++) {
        const { items, next } = await list({ limit, after })
        expect(items.length).toBeLessThanOrEqual(limit)
        shown.push(...pathsOf(items))
        if (next === undefined) break
        after = next
      }
      expect(shown).toEqual(expected)
    }
    const cuts = fc.array(fc.nat(4), { minLength: 1, maxLength: 5 })
    await assertProperty(fc.asyncProperty(paths, fc.integer({ min: 1, max: 5 }), cuts, oneRun), { numRuns: 300 })
  })
})

describe('a cursor of container files', () => {
  const cursorOf = (bytes: string | Buffer) => `cursor_${Buffer.from(bytes).toString('base64url')}`

  it.each(['dir/', 'a\u0085', '\ufeff', '../x', '結果//📄'])('is the key that it was made of: %j', (path) => {
    const cursor = formatKeyCursor(keyPrefix, keyPrefix + path)
    expect(cursor).toBe(cursorOf(path))
    expect(parseKeyCursor(keyPrefix, cursor)).toBe(keyPrefix + path)
  })

  it.each([
    ['bytes that are not UTF-8', cursorOf(Buffer.from([0xff]))],
    ['padding', `${cursorOf('a')}==`],
    ['bits left over', 'cursor_YR'],
    ['another alphabet', 'cursor_+/'],
    ['a key that S3 finds too long', cursorOf('x'.repeat(1025 - keyPrefix.length))],
  ])('is refused with %s', (_, cursor) => {
    expect(() => parseKeyCursor(keyPrefix, cursor)).toThrow(expect.objectContaining({ reason: 'invalid_cursor' }))
  })

  it('may be of the longest key', () => {
    const path = 'x'.repeat(1024 - keyPrefix.length)
    expect(parseKeyCursor(keyPrefix, cursorOf(path))).toBe(keyPrefix + path)
  })
})
