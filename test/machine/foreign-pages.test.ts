import { PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { describe, expect, it } from 'vitest'
import { REFUSAL } from '../../infra/local/loopback.ts'
import { everythingIn } from '../support/machine/contents.ts'
import { ask } from '../support/machine/requests.ts'
import { useService } from '../support/machine/services.ts'

/** A name that a foreign site could have its own name server answer with our address. */
const REBOUND = 'evil.test'
const SIGNED = 'AWS4-HMAC-SHA256 Credential=local/20261122/us-east-1/x/aws4_request, SignedHeaders=host, Signature=x'

const service = useService()

/** These change something unless they are refused: DynamoDB's stand-in does not check who has signed. */
const CHANGES = {
  async gateway() {
    const { base_url, container_id, files, standard_key } = service().demo
    const url = `${base_url}/containers/${container_id}/files/${files[0]?.file_id}/promote`
    return { url, method: 'POST', headers: { authorization: `Bearer ${standard_key}` }, body: '' }
  },
  async s3() {
    const object = { Bucket: service().demo.sandbox_bucket, Key: `${Date.now()}` }
    const url = await getSignedUrl(service().s3, new PutObjectCommand(object))
    return { url, method: 'PUT', headers: {}, body: 'x' }
  },
  async dynamodb() {
    const { dynamodb_endpoint: url, keys_table: TableName } = service().demo
    const target = { 'x-amz-target': 'DynamoDB_20120810.PutItem', 'x-amz-date': '20261122T000000Z' }
    const headers = { ...target, 'content-type': 'application/x-amz-json-1.0', authorization: SIGNED }
    const Item = { owner_hash: { S: 'x' }, key_id: { S: `${Date.now()}` } }
    return { url, method: 'POST', headers, body: JSON.stringify({ TableName, Item }) }
  },
}
const SERVERS = Object.keys(CHANGES) as (keyof typeof CHANGES)[]

describe.each(SERVERS)('the %s', (name) => {
  async function change(more: Record<string, string>) {
    const { url, method, headers, body } = await CHANGES[name]()
    const { port, pathname, search } = new URL(url)
    const before = await everythingIn(service())
    const answer = await ask(
      { port, path: pathname + search, method, headers: { host: 'localhost', ...headers, ...more } },
      body,
    )
    return { ...answer, hasChanged: JSON.stringify(await everythingIn(service())) !== JSON.stringify(before) }
  }

  it.each<[what: string, headers: Record<string, string>]>([
    ['a Host that begins as ours', { host: `localhost.${REBOUND}` }],
    ['another port as Origin', { origin: 'http://localhost:1' }],
    ['a frame of another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'iframe' }],
  ])('refuses %s, and nothing changes: 403', async (_, headers) => {
    const answer = await change(headers)
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining(REFUSAL), hasChanged: false })
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  })

  it.each<[what: string, headers: Record<string, string>]>([
    ['a page of its own', { origin: 'http://localhost', 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' }],
    ['a link', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }],
  ])('lets %s in', async (_, headers) => {
    expect(await change(headers)).toMatchObject({ status: 200, hasChanged: true })
  })
})

it('S3 refuses to show what is not signed, as AWS does', async () => {
  const { s3_endpoint, sandbox_bucket } = service().demo
  for (const path of ['?list-type=2', '/x', '/x?X-Amz-Signature=0']) {
    const response = await fetch(`${s3_endpoint}/${sandbox_bucket}${path}`)
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('AccessDenied')])
  }
})
