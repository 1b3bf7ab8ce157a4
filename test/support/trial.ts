import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { DemoFileContent } from '../../infra/local/service.ts'

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }

/** Everything stored in the local service that has to do with a trial of this name: rows, objects, uploads. */
export async function remainsOf(name: string, demo: DemoFileContent): Promise<string[]> {
  const common = { region: 'us-east-1', credentials }
  const dynamoDb = new DynamoDBClient({ ...common, endpoint: demo.dynamodb_endpoint })
  const s3 = new S3Client({ ...common, endpoint: demo.s3_endpoint, forcePathStyle: true })
  const tables = Object.entries(demo.environment).flatMap(([key, table]) => (key.endsWith('_TABLE') ? [table] : []))
  const rows = await Promise.all(
    tables.map(async (TableName) => {
      const { Items = [] } = await dynamoDb.send(new ScanCommand({ TableName }))
      return Items.map((item) => JSON.stringify(unmarshall(item)))
    }),
  )
  const objects = await Promise.all(
    [demo.sandbox_bucket, demo.documents_bucket].map(async (Bucket) => {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
      const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket }))
      return [...Contents, ...Uploads].map(({ Key }) => `${Key}`)
    }),
  )
  return [...rows, ...objects].flat().filter((text) => text.includes(name))
}

/** How a request fares: it passes, or is answered with this. */
export type Fate = 'pass' | { status: number; contentType: string; body: string }

export interface Hindrance {
  /** Without a path. */
  origin: string
  server: Server
}

/** Something in the way of some requests to a server. @param target its URL */
export async function hinder(
  target: string,
  fateOf: (path: string, method: string) => Fate | Promise<Fate>,
): Promise<Hindrance> {
  const server = createServer(async (asked, answered) => {
    const fate = await fateOf(`${asked.url}`, `${asked.method}`)
    if (fate !== 'pass') {
      asked.resume()
      return void answered.writeHead(fate.status, { 'content-type': fate.contentType }).end(fate.body)
    }
    const options = { method: asked.method, headers: asked.headers }
    const to = request(`${new URL(target).origin}${asked.url}`, options, (it) => {
      answered.writeHead(it.statusCode ?? 500, it.headers)
      it.pipe(answered)
    })
    asked.pipe(to)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}
