import { describe, expect, it } from 'vitest'
import type { ContainerFile } from '../../../lib/containers/container-files.ts'
import { type AttemptId, type DocumentId, formatFileId } from '../../../lib/ids.ts'
import { contentOf, storedObject } from '../../support/aws/memory-s3.ts'
import type { WireRequest } from '../../support/aws/store.ts'
import { createRecordingLog, type LogLine } from '../../support/ports.ts'
import { COPY_SETTINGS, createMemoryObjects } from '../../support/stores/memory-objects.ts'

const KEY = 'sandboxes/ws_1/sess_1/a.bin'
const SIZES = [
  ['whole', 8, /^PUT .*a\.bin/],
  ['in parts', COPY_SETTINGS.multipartThresholdBytes + 1, /^POST .*uploadId/],
] as const

/** One document's object, and a way to put it at {@link KEY}. @param before what is there when it is looked up */
function prepare(sizeBytes: number, before?: string) {
  const { objects } = createMemoryObjects()
  const bytes = Buffer.alloc(sizeBytes, 'd')
  const stored = storedObject({ bytes })
  objects.documents.set('documents/d', stored)
  const set = (text: string) => objects.sandbox.set(KEY, storedObject({ bytes: Buffer.from(text) }))
  if (before !== undefined) set(before)
  const logged: LogLine[] = []
  const write = async () => {
    const signal = AbortSignal.timeout(10_000)
    const over = await objects.findContainerFile(KEY, signal)
    const ids = { documentId: 'file_11' as DocumentId, attemptId: '1' as AttemptId }
    const putBack = {
      ...{ document: { objectKey: 'documents/d', sizeBytes, mimeType: 'text/plain' }, objectKey: KEY, over },
      object: { isArchived: false, etag: stored.etag, contentLanguage: 'de' },
      restoredFrom: { ...ids, fileId: formatFileId('a.bin') },
      isOwn: (file: ContainerFile) => file.sizeBytes === sizeBytes && file.restoredFrom?.attemptId === '1',
    }
    const deadline = { signal, leftMs: () => 10_000, undoSignal: () => signal }
    return objects.write(putBack, { deadline, log: createRecordingLog(logged) })
  }
  const text = () => {
    const object = objects.sandbox.get(KEY)
    return object && contentOf(object).toString()
  }
  return { objects, bytes, set, text, write, logged }
}

const named = ({ method, path }: WireRequest) => `${method} ${path}`
const broken = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

describe.each(SIZES)('a copy into a container, %s', (_, sizeBytes, lastCall) => {
  it.each([undefined, 'before'])('whose answer is lost has succeeded if it is there (over %s)', async (before) => {
    const { objects, write, bytes, text } = prepare(sizeBytes, before)
    const { store } = objects.wire
    objects.wire.store = async (request) => {
      const answer = await store(request)
      if (lastCall.test(named(request))) throw broken()
      return answer
    }
    const written = await write()
    expect(written?.etag).toBe(objects.sandbox.get(KEY)?.etag)
    expect(text()).toBe(bytes.toString())
  })

  it('has type, language and where it comes from, and nothing else of the document', async () => {
    const { objects, write } = prepare(sizeBytes)
    await write()
    expect(objects.sandbox.get(KEY)?.headers).toEqual({
      'content-type': 'text/plain',
      'content-language': 'de',
      'x-amz-meta-document-id': 'file_11',
      'x-amz-meta-attempt-id': '1',
      'x-amz-meta-file-id': formatFileId('a.bin'),
    })
  })

  it.each([
    ['KMS.DisabledException', [400], 'service_unavailable'],
    ['KMS.DisabledException', [500, 400], 'service_unavailable'],
    ['AccessDenied', [403], undefined],
    ['SlowDown', [503], 'service_unavailable'],
  ])('that fails with %s (%j) leaves no file and no upload', async (code, statuses, reason) => {
    const { objects, write, text } = prepare(sizeBytes)
    const { store } = objects.wire
    let calls = 0
    const body = `<Error><Code>${code}</Code><Message>m</Message></Error>`
    objects.wire.store = async (request) => {
      if (!lastCall.test(named(request))) return store(request)
      const status = statuses[Math.min(calls++, statuses.length - 1)] ?? 0
      return { status, headers: {}, body }
    }
    await expect(write()).rejects.toMatchObject(reason ? { reason } : { name: code })
    expect([text(), objects.uploads.size]).toEqual([undefined, 0])
  })
})

describe('a copy in parts', () => {
  const [, [, sizeBytes, lastCall]] = SIZES

  it('has its own ETag as the answer when its file is overwritten at once', async () => {
    const { objects, write, set } = prepare(sizeBytes)
    const { store } = objects.wire
    objects.wire.store = async (request) => {
      const answer = await store(request)
      if (lastCall.test(named(request))) set('of the agent')
      return answer
    }
    const written = await write()
    expect(written?.etag).toMatch(/-2"$/)
    expect(written?.modifiedAt.getTime()).not.toBe(objects.sandbox.get(KEY)?.modifiedAtMs)
  })

  it('says in the log when it could not abort its upload', async () => {
    const { objects, write, logged } = prepare(sizeBytes)
    const { store } = objects.wire
    objects.wire.store = async (request) => {
      if (/partNumber|^DELETE/.test(named(request))) return { status: 403, headers: {}, body: '' }
      return store(request)
    }
    await expect(write()).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } })
    expect(logged).toMatchObject([{ level: 'warn', message: 'upload not aborted' }])
  })
})
