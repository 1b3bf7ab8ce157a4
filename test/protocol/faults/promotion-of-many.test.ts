import { describe, expect, it } from 'vitest'
import type { DocumentId } from '../../../lib/ids.ts'
import { expectWhole, heal } from '../../support/protocol/heal.ts'
import type { TestProcess } from '../../support/protocol/test-process.ts'
import { useTestProcesses } from '../../support/protocol/use-test-processes.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'

interface Item {
  path: string
  outcome: string
  document?: { id: string; filename: string }
  error?: { metadata: { reason: string } }
}

const PATHS = Array.from({ length: 5 }, (_, number) => `output/${String(number).padStart(2, '0')}.txt`)
const bytesOf = (path: string) => Buffer.from(`the bytes of ${path}`)
const ALL_BYTES = PATHS.reduce((bytes, path) => bytes + bytesOf(path).length, 0)

const onProcesses = useTestProcesses({ atOnce: 1 })

async function prepare(process: TestProcess): Promise<TestWorkspace> {
  process.restart({ onTheWire: false })
  process.setClock(0)
  const workspace = await process.newWorkspace(10 ** 9)
  for (const path of PATHS) await process.putFile(workspace, path, bytesOf(path))
  process.takeCalls()
  return workspace
}

async function promoteAll(process: TestProcess, workspace: TestWorkspace): Promise<Item[]> {
  const request = { parameters: { container_id: 'sess_1' }, body: { prefix: 'output/' } }
  const { status, body } = await process.call('promote_container_files', workspace, request)
  expect(status).toBe(200)
  expect(body).toMatchObject({ has_more: false })
  return (body as { data: Item[] }).data
}

/** Each file has the one document that the answer names, each counted once, and nothing else is left. */
async function expectPromoted(process: TestProcess, workspace: TestWorkspace, items: Item[]): Promise<void> {
  expect(items.map(({ path, document }) => [path, document?.filename])).toEqual(PATHS.map((path) => [path, path]))
  await heal(process, workspace)
  await expectWhole(process, workspace)
  expect(await process.stateOf(workspace)).toMatchObject({ documents: PATHS.length, usedBytes: ALL_BYTES })
  for (const { document } of items) {
    const ids = { ...workspace, documentId: document?.id as DocumentId }
    const found = await process.deps.documents.find(ids, AbortSignal.timeout(60_000))
    expect(found).toMatchObject({ state: 'ready', filename: document?.filename })
  }
}

describe('all files of a prefix', () => {
  it('cost six calls each, besides the list and one look for ledger and earlier documents, and nothing when repeated', () =>
    onProcesses.one(async (process) => {
      const workspace = await prepare(process)
      await expectPromoted(process, workspace, await promoteAll(process, workspace))
      process.restart()
      const other = await prepare(process)
      process.restart()
      await promoteAll(process, other)
      const names = process.takeCallNames()
      const OF_THE_REQUEST = ['keys.find', 'rateLimit.take', 'ListObjectsV2', 'documents.findAll', 'ledger.read']
      const ofFiles = names.filter((name) => !OF_THE_REQUEST.includes(name))
      // A crowded ledger is asked again.
      expect(ofFiles.filter((name) => name !== 'ledger.hold')).toHaveLength(5 * PATHS.length)
      expect(new Set(ofFiles).size).toBe(6)
      const again = await promoteAll(process, other)
      expect(again.map(({ outcome }) => outcome)).toEqual(PATHS.map(() => 'kept'))
      expect(new Set(process.takeCallNames())).toEqual(new Set(OF_THE_REQUEST))
    }))

  it('are whole and counted once when two requests promote them at once', () =>
    onProcesses.one(async (process) => {
      const workspace = await prepare(process)
      const [one = [], other = []] = await Promise.all([1, 2].map(() => promoteAll(process, workspace)))
      expect(one.map(({ document }) => document)).toEqual(other.map(({ document }) => document))
      await expectPromoted(process, workspace, one)
    }))
})
