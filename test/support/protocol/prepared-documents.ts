import { expect } from 'vitest'
import { type DocumentId, formatFileId } from '../../../lib/ids.ts'
import type { OperationName } from '../api/operations.ts'
import type { TestProcess } from './test-process.ts'
import { useTestProcesses } from './use-test-processes.ts'
import type { TestWorkspace } from './workspaces.ts'

export const BYTES = Buffer.from('a file')

/** A process, and a workspace with one document in it. */
interface Prepared {
  process: TestProcess
  workspace: TestWorkspace
  documentId: string
}

/** Processes for a test file. @returns runs a test in one of them, with a workspace of its own */
export function usePreparedProcesses(atOnce: number): (test: (prepared: Prepared) => Promise<void>) => Promise<void> {
  const processes = useTestProcesses({ atOnce })
  return (test) =>
    processes.one(async (process) => {
      process.restart()
      process.setClock(0)
      const workspace = await process.newWorkspace()
      await process.putFile(workspace, 'a.txt', BYTES)
      const documentId = await promoted(process, workspace)
      process.takeCalls()
      await test({ process, workspace, documentId })
    })
}

export async function promoted(process: TestProcess, workspace: TestWorkspace): Promise<string> {
  const { status, body } = await process.promote(workspace, 'a.txt')
  expect(status).toBe(200)
  return (body as { id: string }).id
}

export const call = ({ process, workspace, documentId }: Prepared, name: OperationName, remainingMs?: number) =>
  process.call(name, workspace, {
    parameters: { document_id: documentId, container_id: 'sess_1', file_id: formatFileId('a.txt') },
    ...(name === 'promote_container_files' && { body: { paths: ['a.txt'] } }),
    remainingMs,
  })

export async function objectKeyOf({ process, workspace, documentId }: Prepared): Promise<string> {
  const signal = AbortSignal.timeout(60_000)
  const ids = { workspaceId: workspace.workspaceId, documentId: documentId as DocumentId }
  const document = await process.deps.documents.find(ids, signal)
  return document?.objectKey ?? ''
}
