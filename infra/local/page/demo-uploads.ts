import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import type { S3Client } from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { readConfig } from '../../../lib/config.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { formatFileId, parseContainerId, parseFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import type { DemoFileContent } from '../stores/demo-file.ts'

type Answer = { status: number; body: { url: string; fields: Record<string, string> } | { detail: string } }

const MAX_REQUEST_BYTES = 10_000
/** S3's limit of one upload. */
const MAX_FILE_BYTES = 5 * 1024 ** 3
const LIFETIME_SECONDS = 15 * 60

/**
 * Signs uploads into containers of the demonstration's workspaces, for the page of npm start alone: it is no part of the
 * product's API. A request is {workspace_id, container_id, path, content_type, size_bytes}, an answer {url, fields} of a presigned
 * POST for exactly that file, or a 400 with a sentence.
 */
export function createDemoUploads({ demo, s3 }: { demo: DemoFileContent; s3: S3Client }) {
  const keys = createObjectKeys(readConfig(demo.environment).keyTemplates)
  const workspaces: unknown[] = [demo.workspace_id, demo.full_workspace.workspace_id]

  return async (incoming: IncomingMessage): Promise<Answer> => {
    const { origin, host, 'content-length': length } = incoming.headers
    if (origin !== undefined && origin !== `http://${host}`) return refusal('Only the page of npm start may ask.', 403)
    const isShort = Number(length) <= MAX_REQUEST_BYTES
    const asked = isShort ? await json(incoming).catch(() => undefined) : undefined
    const { workspace_id, container_id, path, content_type = '', size_bytes } = (asked ?? {}) as Record<string, unknown>
    if (
      typeof container_id !== 'string' ||
      typeof path !== 'string' ||
      path === '' ||
      typeof content_type !== 'string'
    ) {
      return refusal('It takes a short JSON object with workspace_id, container_id, path, content_type and size_bytes.')
    }
    if (!workspaces.includes(workspace_id)) return refusal('This is no workspace of the demonstration.')
    const isSize = Number.isInteger(size_bytes) && Number(size_bytes) >= 0 && Number(size_bytes) <= MAX_FILE_BYTES
    if (!isSize) return refusal('A file of one upload has at most 5 GiB.')
    try {
      const { url, fields } = await createPresignedPost(s3, {
        Bucket: demo.sandbox_bucket,
        Key: keys.sandboxFile({
          workspaceId: workspace_id as WorkspaceId,
          containerId: parseContainerId(container_id),
          path: parseFileId(formatFileId(path)),
        }),
        Expires: LIFETIME_SECONDS,
        Fields: content_type === '' ? {} : { 'Content-Type': content_type },
        Conditions: [['content-length-range', Number(size_bytes), Number(size_bytes)]],
      })
      return { status: 200, body: { url, fields } }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return refusal(error.detail.replace('path encoded in file_id', 'path'))
    }
  }
}

const refusal = (detail: string, status = 400): Answer => ({ status, body: { detail } })
