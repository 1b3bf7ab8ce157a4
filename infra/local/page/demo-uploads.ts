import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { readConfig } from '../../../lib/config.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { type ContainerId, formatFileId, parseFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import type { DemoFileContent } from '../stores/demo-file.ts'

type Answer = { status: number; body: { url: string; fields: Record<string, string> } | { detail: string } }

/** As in the environment of the functions. */
export type Credentials = Record<'AWS_REGION' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY', string>

const MAX_REQUEST_BYTES = 10_000
/** S3's limit of one upload. */
const MAX_FILE_BYTES = 5 * 1024 ** 3
const LIFETIME_MS = 15 * 60_000

/**
 * Signs uploads into the containers of the demonstration, for the page of npm start alone: it is no part of the
 * product's API. A request is {container_id, path, content_type, size_bytes}, an answer {url, fields} of a presigned
 * POST for exactly that file, or a 400 with a sentence.
 */
export function createDemoUploads({ demo, credentials }: { demo: DemoFileContent; credentials: Credentials }) {
  const keys = createObjectKeys(readConfig(demo.environment).keyTemplates)
  const containers = [demo, demo.full_workspace]

  /** @throws ServiceError when no id can name the path */
  function keyOf(container: (typeof containers)[number], path: string): string {
    return keys.sandboxFile({
      workspaceId: container.workspace_id as WorkspaceId,
      containerId: container.container_id as ContainerId,
      path: parseFileId(formatFileId(path)),
    })
  }

  return async (incoming: IncomingMessage): Promise<Answer> => {
    const { origin, host, 'content-length': length } = incoming.headers
    if (origin !== undefined && origin !== `http://${host}`) return refusal('Only the page of npm start may ask.', 403)
    const isShort = Number(length) <= MAX_REQUEST_BYTES
    const asked = isShort ? await json(incoming).catch(() => undefined) : undefined
    const { container_id, path, content_type = '', size_bytes } = (asked ?? {}) as Partial<Record<string, unknown>>
    const container = containers.find((each) => each.container_id === container_id)
    if (typeof path !== 'string' || path === '' || typeof content_type !== 'string') {
      return refusal('It takes a short JSON object with container_id, path, content_type and size_bytes.')
    }
    if (container === undefined) return refusal('This is no container of the demonstration.')
    const isSize = Number.isInteger(size_bytes) && Number(size_bytes) >= 0 && Number(size_bytes) <= MAX_FILE_BYTES
    if (!isSize) return refusal('A file of one upload has at most 5 GiB.')
    try {
      const url = `${demo.s3_endpoint}/${demo.sandbox_bucket}`
      const described = { key: keyOf(container, path), ...(content_type !== '' && { 'Content-Type': content_type }) }
      const exactly = ['content-length-range', size_bytes, size_bytes]
      const fields = signForm(described, [{ bucket: demo.sandbox_bucket }, exactly], credentials)
      return { status: 200, body: { url, fields } }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return refusal(error.detail.replace('path encoded in file_id', 'path'))
    }
  }
}

const refusal = (detail: string, status = 400): Answer => ({ status, body: { detail } })

/** A form's fields with their policy and its signature (S3 API, "Authenticating requests: browser-based uploads"). */
function signForm(described: Record<string, string>, conditions: unknown[], credentials: Credentials) {
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = [date.slice(0, 8), credentials.AWS_REGION, 's3', 'aws4_request']
  const named: Record<string, string> = {
    ...described,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': [credentials.AWS_ACCESS_KEY_ID, ...scope].join('/'),
    'X-Amz-Date': date,
  }
  const expiration = new Date(Date.now() + LIFETIME_MS).toISOString()
  const all = [...conditions, ...Object.entries(named).map(([name, value]) => ({ [name]: value }))]
  const policy = Buffer.from(JSON.stringify({ expiration, conditions: all })).toString('base64')
  const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const key = scope.reduce(hmac, Buffer.from(`AWS4${credentials.AWS_SECRET_ACCESS_KEY}`))
  return { ...named, Policy: policy, 'X-Amz-Signature': hmac(key, policy).toString('hex') }
}
