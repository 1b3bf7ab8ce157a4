import { Agent, request } from 'node:http'

/**
 * The least that nine requests can cost from Node.js: unsigned, not repeated, the answers not read. Sent in the order of a
 * promotion and named so that the simulator knows them.
 */
const agent = new Agent({ keepAlive: true })
const endpoint = new URL(process.env.AWS_ENDPOINT_URL_S3 ?? '')
/** A body of DynamoDB's is about as long. */
const FILLING = 'x'.repeat(500)

export async function handler(event: { pathParameters: { file_id: string } }) {
  const path = Buffer.from(event.pathParameters.file_id.slice('cfile_'.length), 'base64url').toString()
  await dynamoDb('GetItem', 'bench-keys')
  await Promise.all([s3('HEAD', `/sandboxes/${path}`), dynamoDb('UpdateItem', 'bench-rate-limits')])
  await dynamoDb('UpdateItem', 'bench-workspaces', 'remaining_bytes - :size_bytes')
  const opened = dynamoDb('PutItem', 'bench-reservations', '', { purpose: { S: 'promotion' } })
  const unmarked = opened.then(() => dynamoDb('UpdateItem', 'bench-workspaces', 'REMOVE #markers'))
  await Promise.all([opened, s3('PUT', '/documents/copy', { 'x-amz-copy-source': `sandboxes/${path}` })])
  await dynamoDb('UpdateItem', 'bench-documents', 'filename = :filename')
  await unmarked
  await dynamoDb('DeleteItem', 'bench-reservations')
  return { statusCode: 200, body: '{}' }
}

function dynamoDb(operation: string, TableName: string, UpdateExpression = '', Item = {}): Promise<void> {
  const body = JSON.stringify({ TableName, Key: {}, Item, UpdateExpression, FILLING })
  return send('POST', '/', { 'x-amz-target': `DynamoDB_20120810.${operation}` }, body)
}

const s3 = (method: string, path: string, headers: Record<string, string> = {}) => send(method, path, headers, '')

function send(method: string, path: string, headers: Record<string, string>, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = endpoint
    const options = { hostname, port, agent, method, path, headers: { ...headers, 'content-length': body.length } }
    request(options, (answer) => answer.resume().on('end', resolve))
      .on('error', reject)
      .end(body)
  })
}
