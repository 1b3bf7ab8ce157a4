import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createObjectStore } from '../../lib/aws/s3/object-store.ts'
import { CREDENTIALS, type StandIns, startStandIns } from '../support/stores/stand-ins.ts'
import { COPY_SETTINGS } from '../support/stores/use-object-store.ts'

const { signal } = new AbortController()
let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
  const Bucket = standIns.config.sandboxBucket
  await standIns.s3.send(new PutObjectCommand({ Bucket, Key: 'sandboxes/ws/c/report.csv', Body: 'a,b' }))
})
afterAll(() => standIns.stop())

/** A store behind which S3 refuses these calls, all or only for what is not there. */
function storeThatRefuses(refuses: (call: string, status: number | undefined) => boolean) {
  const client = new S3Client({ region: 'us-east-1', credentials: CREDENTIALS, endpoint: standIns.s3Endpoint })
  const refusal = { $metadata: { httpStatusCode: 403 } }
  client.middlewareStack.add((next, { commandName }) => async (args) => {
    const call = String(commandName)
    if (refuses(call, undefined)) throw Object.assign(new Error('UnknownError'), refusal)
    return next(args).catch((error) => {
      const status = error.$metadata?.httpStatusCode
      throw refuses(call, status) ? Object.assign(new Error('UnknownError'), refusal) : error
    })
  })
  let refusals = 0
  const settings = { ...COPY_SETTINGS, ...standIns.config, client, onRefusedMissingKey: () => void refusals++ }
  return { store: createObjectStore(settings), refusals: () => refusals }
}

describe('a container file that is looked up where S3 refuses to say that a key is missing', () => {
  it('is not there, as where S3 says so', async () => {
    const { store, refusals } = storeThatRefuses((call, status) => call === 'HeadObjectCommand' && status === 404)
    // The beginning of a key that is there, too.
    for (const key of ['sandboxes/ws/c/missing.csv', 'sandboxes/ws/c/report']) {
      expect(await store.findContainerFile(key, signal)).toBeUndefined()
    }
    expect(refusals()).toBe(2)
    expect(await store.findContainerFile('sandboxes/ws/c/report.csv', signal)).toMatchObject({ sizeBytes: 3 })
    expect(refusals()).toBe(2)
  })

  it.each([
    ['it is there and may not be read', 'HeadObjectCommand', 'sandboxes/ws/c/report.csv'],
    ['nothing may be listed, either', '', 'sandboxes/ws/c/missing.csv'],
  ])('is a refusal when %s', async (_, refused, key) => {
    const { store, refusals } = storeThatRefuses((call, status) =>
      refused ? call === refused : status === 404 || call === 'ListObjectsV2Command',
    )
    await expect(store.findContainerFile(key, signal)).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } })
    expect(refusals()).toBe(0)
  })
})
