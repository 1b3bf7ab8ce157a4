import { describe, expect, it } from 'vitest'
import type { ContainerFile } from '../../../lib/containers/container-files.ts'
import { type AttemptId, type DocumentId, formatFileId } from '../../../lib/ids.ts'
import { contentOf, storedObject } from '../../support/aws/memory-s3.ts'
import { answering, changing, type Wrong } from '../../support/aws/wrong.ts'
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
  const { store } = objects.wire
  const answer = (wrong: Wrong) => {
    objects.wire.store = (request) => wrong(request, store)
  }
  return { objects, bytes, set, text, write, logged, answer }
}

describe.each(SIZES)('a copy into a container, %s', (_, sizeBytes, lastCall) => {
  it.each([undefined, 'before'])('whose answer is lost has succeeded if it is there (over %s)', async (before) => {
    const { objects, write, bytes, text, answer } = prepare(sizeBytes, before)
    const breaks = () => {
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    }
    answer(changing(lastCall, breaks))
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
    const { objects, write, text, answer } = prepare(sizeBytes)
    const body = `<Error><Code>${code}</Code><Message>m</Message></Error>`
    const [first = 0, later = first] = statuses
    let calls = 0
    answer(async (request, ask) => {
      if (!lastCall.test(`${request.method} ${request.path}`)) return ask(request)
      return { status: calls++ === 0 ? first : later, headers: {}, body }
    })
    await expect(write()).rejects.toMatchObject(reason ? { reason } : { name: code })
    expect([text(), objects.uploads.size]).toEqual([undefined, 0])
  })
})

describe('a copy in parts', () => {
  const [, [, sizeBytes, lastCall]] = SIZES

  it('has its own ETag as the answer when its file is overwritten at once', async () => {
    const { objects, write, set, answer } = prepare(sizeBytes)
    const overwrites = () => {
      set('of the agent')
      return {}
    }
    answer(changing(lastCall, overwrites))
    const written = await write()
    expect(written?.etag).toMatch(/-2"$/)
    expect(written?.modifiedAt.getTime()).not.toBe(objects.sandbox.get(KEY)?.modifiedAtMs)
  })

  it('says in the log when it could not abort its upload', async () => {
    const { write, logged, answer } = prepare(sizeBytes)
    answer(answering(/partNumber|^DELETE/, 403, ''))
    await expect(write()).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } })
    expect(logged).toMatchObject([{ level: 'warn', message: 'upload not aborted' }])
  })
})
