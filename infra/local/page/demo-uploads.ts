import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { readConfig } from '../../../lib/config.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { formatFileId, parseContainerId, parseFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { arriving } from '../loopback.ts'
import type { DemoFileContent } from '../stores/demo-file.ts'

type Answer = { status: number; body: { detail?: string } }

/**
 * Puts a file into a container of the demonstration's workspaces, for the page of npm start alone: it is no part of the
 * product's API. The query is workspace_id, container_id and path, the body the file; a refusal is a 400 with a sentence.
 */
export function createDemoUploads({ demo, s3 }: { demo: DemoFileContent; s3: S3Client }) {
  const keys = createObjectKeys(readConfig(demo.environment).keyTemplates)
  const workspaces = [demo.workspace_id, demo.full_workspace.workspace_id]

  return async (incoming: IncomingMessage): Promise<Answer> => {
    const { origin, host, 'content-type': ContentType } = incoming.headers
    if (origin !== undefined && origin !== `http://${host}`) return refusal('Only the page of npm start may ask.', 403)
    const { searchParams: query } = new URL(incoming.url ?? '', 'http://page')
    const workspaceId = query.get('workspace_id') ?? ''
    if (!workspaces.includes(workspaceId)) return refusal('This is no workspace of the demonstration.')
    try {
      const Key = keys.sandboxFile({
        workspaceId: workspaceId as WorkspaceId,
        containerId: parseContainerId(query.get('container_id') ?? ''),
        path: parseFileId(formatFileId(query.get('path') ?? '')),
      })
      const params = { Bucket: demo.sandbox_bucket, Key, ContentType, Body: Readable.from(arriving(incoming)) }
      // A PutObject of a stream throws where nobody can catch it when the stream breaks off.
      await new Upload({ client: s3, params }).done()
      return { status: 200, body: {} }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return refusal(error.detail.replace('path encoded in file_id', 'path'))
    }
  }
}

const refusal = (detail: string, status = 400): Answer => ({ status, body: { detail } })
