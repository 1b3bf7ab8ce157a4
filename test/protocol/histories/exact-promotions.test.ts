/** A writer that commits late, overwrites and deletes, beside promotions that say which file they mean. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createObjectStore } from '../../../lib/aws/s3/object-store.ts'
import type { AnyResponse } from '../../support/api/openapi.ts'
import { CONTAINER, createTestApi, PATH, UNLIMITED } from '../../support/api/test-api.ts'
import { assertProperty } from '../../support/assert-property.ts'
import { createMemoryS3, memoryS3Client } from '../../support/aws/memory-s3.ts'
import { casesOf } from '../../support/depth.ts'
import { COPY_SETTINGS } from '../../support/stores/memory-objects.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

const INTERLEAVINGS = casesOf('INTERLEAVINGS', 1000)
const hash = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('hex')
/** Two have the same size. */
const VERSIONS = ['before', 'after!', 'longer than both'].map((text) => {
  const bytes = Buffer.from(text)
  return { bytes, etag: `"${hash('md5', bytes)}"`, sha256: hash('sha256', bytes) }
})
const KEY = `sandboxes/ws_1/${CONTAINER}/${PATH}`
const time = skipWaits()

const version = fc.constantFrom(...VERSIONS)
const named = fc.record({
  version,
  byEtag: fc.boolean(),
  bySize: fc.boolean(),
  bySha256: fc.boolean(),
  waitSeconds: fc.constantFrom(0, 0, 1, 4),
  hasKey: fc.boolean(),
})
type Named = typeof named extends fc.Arbitrary<infer Value> ? Value : never
/** The writer waits for so many calls and pauses of the promotions before each. */
const writes = fc.array(fc.record({ after: fc.nat({ max: 6 }), version: fc.option(version) }), { maxLength: 6 })

const headersOf = ({ version: { bytes, etag, sha256 }, ...by }: Named) => ({
  ...(by.byEtag && { 'If-Match': etag }),
  ...(by.bySize && { 'File-Bytes': String(bytes.length) }),
  ...(by.bySha256 && { 'File-Sha256': sha256 }),
  ...(by.waitSeconds > 0 && { Prefer: `wait=${by.waitSeconds}` }),
  ...(by.hasKey && { 'Idempotency-Key': 'key' }),
})
const isNamed = (bytes: Buffer, { version: meant, ...by }: Named) =>
  (!by.byEtag || hash('md5', bytes) === meant.etag.slice(1, -1)) &&
  (!by.bySize || bytes.length === meant.bytes.length) &&
  (!by.bySha256 || hash('sha256', bytes) === meant.sha256)

const s3 = createMemoryS3()
const ask = (method: string, path: string, body = Buffer.alloc(0)) => s3.store({ method, path, headers: {}, body })
let happen: () => Promise<void>
const client = memoryS3Client(async (request) => {
  await happen()
  const answer = await s3.store(request)
  await happen()
  return answer
})

/** @returns the answers, each with the bytes of its document */
async function play(requests: Named[], planned: { after: number; version: Named['version'] | null }[], at: string) {
  const objects = createObjectStore({
    client,
    sandboxBucket: 'sandbox',
    documentsBucket: 'documents',
    ...COPY_SETTINGS,
  })
  const api = createTestApi({ objects, rateLimiter: UNLIMITED })
  const left = [...planned]
  let events = 0
  happen = async () => {
    const next = left[0]
    if (!next || events++ < next.after) return
    events = 0
    left.shift()
    await ask(next.version ? 'PUT' : 'DELETE', `/sandbox/${KEY}`, next.version?.bytes)
  }
  time.beforePause = () => void happen()

  const promote = async (request: Named) => {
    const answer = await api.promote({ headers: headersOf(request) })
    const document = api.stored.documents().find(({ documentId }) => documentId === idIn(answer))
    const stored = document && (await ask('GET', `/documents/${document.objectKey}`))
    return { request, answer, bytes: stored && Buffer.from(stored.body) }
  }
  const answers = []
  if (at === 'once') answers.push(...(await Promise.all(requests.map(promote))))
  else for (const request of requests) answers.push(await promote(request))

  const objectsLeft = String((await ask('GET', '/documents?list-type=2')).body).match(/<Key>/g)?.length ?? 0
  const documents = api.stored.documents()
  assert.equal(api.stored.items().length, documents.length, 'nothing is left unfinished')
  assert.equal(objectsLeft, documents.length, 'each object has a document')
  const used = documents.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  for (const { usedBytes, holds } of api.stored.ledgers()) {
    assert.deepEqual([usedBytes, holds], [used, []], 'each document is counted, and nothing else')
  }
  return answers
}

const idIn = ({ status, body }: AnyResponse) => (status === 200 ? (body as { id: string }).id : undefined)

it(`promotions beside a writer are never a 200 for other bytes than they name, ${INTERLEAVINGS} times`, {
  timeout: 1_200_000,
}, async () => {
  await ask('PUT', '/sandbox')
  await ask('PUT', '/documents')
  const empty = s3.snapshot()
  const seen = new Map<string, number>()
  const requests = fc.array(named, { minLength: 1, maxLength: 3 })
  const start = fc.option(version)
  await assertProperty(
    fc.asyncProperty(requests, start, writes, fc.constantFrom('once', 'times'), async (all, first, planned, at) => {
      s3.restore(empty)
      if (first) await ask('PUT', `/sandbox/${KEY}`, first.bytes)
      for (const { request, answer, bytes } of await play(all, planned, at)) {
        const { status, body } = answer
        const reason =
          status === 200 ? 'ok' : (body as { error: { metadata: { reason: string } } }).error.metadata.reason
        seen.set(reason, (seen.get(reason) ?? 0) + 1)
        assert([200, 400, 404, 429, 503].includes(status), `${status} ${reason}`)
        if (status !== 200) continue
        assert(bytes && isNamed(bytes, request), `${bytes} for ${JSON.stringify(headersOf(request))}`)
        assert(
          VERSIONS.some((each) => each.bytes.equals(bytes)),
          'the bytes are of one version',
        )
      }
    }),
    { numRuns: INTERLEAVINGS },
  )
  // So many reach every end.
  if (INTERLEAVINGS < 300) return
  const ends = [
    'ok',
    'container_file_differs',
    'container_not_found',
    'container_file_changed',
    'idempotency_key_reused',
  ]
  expect([...seen.keys()]).toEqual(expect.arrayContaining(ends))
})
