import type { ContainerFileDescription } from '../../containers/container-files.ts'
import type { RestoreDependencies } from '../../containers/restore-document.ts'
import { type DocumentToRestore, type RestoreOutcome, restoreDocuments } from '../../containers/restore-documents.ts'
import { answer, describeOutcomes } from '../answers.ts'
import type { ApiRequest, Operations } from '../api-handler.ts'
import { type Body, readChoice, readPath, refuseBody } from '../body.ts'
import { describeError } from '../middleware/answer-errors.ts'
import { containerFileResponse } from '../shapes.ts'

const MOST_FILES = 100

export function restoreOperations(deps: RestoreDependencies) {
  return {
    async create_container_file(request) {
      const { body, state } = request
      const { outcomes } = await restore(request, [readDocument(body)])
      const { documentId, file, error } = outcomes[0] ?? {}
      if (file === undefined) throw error
      state.telemetry.annotate({ document_id: documentId, size_bytes: file.sizeBytes })
      return answer(describeFile(file), { etag: file.etag })
    },

    async restore_container_files(request) {
      const { body, state } = request
      const files = readDocuments(body)
      const start = readStart(body, files.length)
      const { outcomes, waiting } = await restore(request, files.slice(start))
      const counts = { restored: 0, present: 0, refused: 0 }
      for (const { outcome } of outcomes) counts[outcome]++
      state.telemetry.annotate(counts)
      const end = start + outcomes.length
      const next = end < files.length ? String(end) : undefined
      return answer(describeOutcomes(outcomes.map(describeOutcome), { next, waiting, pauseMs: request.pauseMs }))
    },
  } satisfies Operations

  function restore(request: ApiRequest, documents: readonly DocumentToRestore[]) {
    const { event, caller, state, body } = request
    const containerId = event.pathParameters?.container_id
    state.telemetry.annotate({ container_id: containerId })
    const { workspaceId } = caller
    const replaces = readChoice(body, 'on_existing', ['refuse', 'replace']) === 'replace'
    const wanted = { workspaceId, containerId, documents, replaces }
    return restoreDocuments({ ...state, ...request, ...wanted }, deps)
  }
}

/** In this answer only, somebody has put the file there. */
const describeFile = (file: ContainerFileDescription) => ({ ...containerFileResponse(file), source: 'user' })

const describeOutcome = ({ documentId, path, outcome, file, error }: RestoreOutcome) => ({
  ...{ file_id: documentId, path: path ?? null, outcome },
  ...(file && { container_file: { ...describeFile(file), etag: file.etag } }),
  ...(error && { error: describeError(error, { retry_after_seconds: error.retryAfterSeconds }) }),
})

function readDocument({ file_id, path }: Body, place = ''): DocumentToRestore {
  if (typeof file_id !== 'string' || file_id === '') refuseBody(`${place}file_id must be the id of a document.`)
  return { documentId: file_id, path: path == null ? undefined : readPath(path, `${place}path`) }
}

function readDocuments({ files }: Body): DocumentToRestore[] {
  if (!Array.isArray(files) || files.length === 0 || files.length > MOST_FILES)
    refuseBody(`files must be an array of 1 to ${MOST_FILES} objects.`)
  return files.map((file: unknown, index) => {
    const place = `files[${index}]`
    if (typeof file !== 'object' || file === null)
      refuseBody(`${place} must be an object with the file_id of a document.`)
    const other = Object.keys(file).find((name) => name !== 'file_id' && name !== 'path')
    if (other === undefined) return readDocument(file as Body, `${place}.`)
    return refuseBody(`${place} has ${JSON.stringify(other.slice(0, 64))}, but may have only file_id and path.`)
  })
}

/** How many of the files an earlier answer has told of. */
function readStart({ after = '0' }: Body, count: number): number {
  const start = typeof after === 'string' && /^\d{1,3}$/.test(after) ? Number(after) : Number.NaN
  return start < count ? start : refuseBody('after must be the next of an answer to a request with the same files.')
}
