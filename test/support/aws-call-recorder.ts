/**
 * Loaded into every process of a test run (global-setup.ts puts it into NODE_OPTIONS): writes down what the functions ask
 * of the S3 and DynamoDB stand-ins that this process serves, as IAM sees it. The user agent of its clients names the
 * function.
 */
import diagnostics from 'node:diagnostics_channel'
import { appendFileSync, globSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename, join } from 'node:path'
import './aws/name-calls.ts'
import { type Access, accessesOf } from './template/iam-accesses.ts'

const directory = process.env.RECORD_AWS_CALLS_IN
const FUNCTION_NAMES = globSync('functions/*.ts', { cwd: join(import.meta.dirname, '../..') }).map((file) =>
  basename(file, '.ts'),
)
const APP_ID = new RegExp(`\\bapp/(${FUNCTION_NAMES.join('|')})\\b`)
const seen = new Set<string>()

export type RecordedAccess = Access & { functionId: string }

if (directory !== undefined) {
  const file = join(directory, `${process.pid}.jsonl`)
  diagnostics.subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    const functionId = APP_ID.exec(request.headers['user-agent'] ?? '')?.[1]
    if (functionId === undefined) return
    const body = listenTo(request)
    response.once('finish', () => {
      for (const access of accessesOf(request, body(), response.statusCode)) {
        const line = JSON.stringify({ functionId, ...access } satisfies RecordedAccess)
        if (seen.size < seen.add(line).size) appendFileSync(file, `${line}\n`)
      }
    })
  })
}

/** Watches the body go by without taking it from the server that reads it. */
function listenTo(request: IncomingMessage): () => string {
  const chunks: Buffer[] = []
  const { push } = request
  request.push = (chunk, ...rest) => {
    if (chunk) chunks.push(chunk)
    return push.call(request, chunk, ...rest)
  }
  return () => Buffer.concat(chunks).toString()
}
