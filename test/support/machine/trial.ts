import { createServer, request } from 'node:http'
import { paginateScan } from '@aws-sdk/client-dynamodb'
import { ListMultipartUploadsCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { LOOPBACK, listen } from '../../../infra/local/loopback.ts'
import type { TestService } from './services.ts'

/** Everything in the stores of the local service that has to do with workspaces of this prefix: rows, objects, uploads. */
export async function remainsOf(prefix: string, { demo, dynamoDb, s3 }: TestService): Promise<string[]> {
  const found: string[] = []
  const tables = Object.entries(demo.environment).flatMap(([key, table]) => (key.endsWith('_TABLE') ? [table] : []))
  for (const TableName of tables) {
    for await (const { Items = [] } of paginateScan({ client: dynamoDb }, { TableName })) {
      found.push(...Items.map((item) => JSON.stringify(unmarshall(item))))
    }
  }
  for (const Bucket of [demo.sandbox_bucket, demo.documents_bucket]) {
    for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
      found.push(...Contents.map(({ Key }) => `${Key}`))
    }
    // The embedded S3 lists them on one page.
    const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket }))
    found.push(...Uploads.map(({ Key }) => `${Key}`))
  }
  return found.filter((text) => text.includes(prefix))
}

/** How a request fares: it passes, perhaps without some headers, or is answered with this. */
export type Fate = 'pass' | { without: string[] } | { status: number; contentType: string; body: string }

/** Something in the way of some requests to a server. @param target its URL */
export async function hinder(target: string, fateOf: (path: string, method: string) => Fate | Promise<Fate>) {
  const server = createServer(async (asked, answered) => {
    const fate = await fateOf(`${asked.url}`, `${asked.method}`)
    if (typeof fate === 'object' && 'status' in fate) {
      asked.resume()
      return void answered.writeHead(fate.status, { 'content-type': fate.contentType }).end(fate.body)
    }
    const headers = { ...asked.headers }
    for (const name of fate === 'pass' ? [] : fate.without) delete headers[name]
    const options = { method: asked.method, headers }
    const to = request(`${new URL(target).origin}${asked.url}`, options, (it) => {
      answered.writeHead(it.statusCode ?? 500, it.headers)
      it.pipe(answered)
    })
    asked.pipe(to)
  })
  return { origin: `http://${LOOPBACK}:${await listen(server, 0)}`, server }
}
