import { describe, expect, it, vi } from 'vitest'
import { createContainerFiles } from '../../lib/aws/container-files.ts'
import { createDocumentListing } from '../../lib/aws/document-listing.ts'

const { signal } = new AbortController()
/** A client of AWS that gives this answer to every command. */
const answering = (answer: object) => ({ send: vi.fn().mockResolvedValue({ $metadata: {}, ...answer }) })

describe('whether there is a container', () => {
  it.each([
    [true, { Contents: [{ Key: 'sandboxes/ws_1/sess_1/a' }] }],
    [false, { Contents: [] }],
    [false, {}],
  ])('is %s when S3 lists %j', async (expected, list) => {
    const client = answering(list)
    const files = createContainerFiles({ client: client as never, sandboxBucket: 'b' })
    expect(await files.hasContainer('sandboxes/ws_1/sess_1/', signal)).toBe(expected)
    const input = { Bucket: 'b', Prefix: 'sandboxes/ws_1/sess_1/', MaxKeys: 1 }
    expect(client.send.mock.calls[0]?.[0]).toMatchObject({ input })
  })
})

describe('documents by their ids', () => {
  it('are not answered in part: 503 when DynamoDB keeps leaving keys unprocessed', async () => {
    const Keys = [{ workspace_id: { S: 'ws_1' }, document_id: { S: 'file_1' } }]
    // DynamoDB may answer without any responses.
    const client = answering({ UnprocessedKeys: { documents: { Keys } } })
    const listing = createDocumentListing({ client: client as never, tableName: 'documents' } as never)
    const finding = listing.findAll('ws_1' as never, ['file_1' as never], signal)
    const cause = { message: 'keys left unprocessed' }
    await expect(finding).rejects.toMatchObject({ reason: 'service_unavailable', cause })
    expect(client.send).toHaveBeenCalledTimes(4)
  })
})
