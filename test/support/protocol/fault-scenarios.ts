import { expect } from 'vitest'
import type { OperationName } from '../api/operations.ts'
import { deadlineIn } from '../api/rest-event.ts'
import { LARGE_BYTES } from './promotions-that-fail.ts'
import {
  deadDeletion,
  deadPromotion,
  documentIdOf,
  HOURS_MS,
  KEY,
  MINUTES_MS,
  promote,
  type RunLimits,
  type Scenario,
  SMALL,
  TOO_MUCH,
  withDocument,
  withFile,
  withFindings,
} from './scenario-steps.ts'
import type { TestProcess } from './test-process.ts'
import type { TestWorkspace } from './workspaces.ts'

/** A promotion makes these before it begins: broken in the first scenario. */
const LOOKUPS = /^(keys\.find|rateLimit\.take|HeadObject|ledger\.read)$/
/**
 * Each call is broken in every way where it comes first. What else may come of a fault when it is made in other
 * circumstances, the explorer shows.
 */
const allBut = (...calls: string[]) => new RegExp(`^(?!(${calls.join('|')})$)`)

const promoting = (
  name: string,
  prepare: Scenario['prepare'],
  { key, documentsBefore = 0, ...more }: Partial<Scenario> & { key?: string } = {},
): Scenario => ({
  name,
  prepare,
  run: (process, workspace, limits) => promote(process, workspace, limits, key),
  documentsBefore,
  brokenElsewhere: LOOKUPS,
  ...more,
})

const promoteMany = (process: TestProcess, workspace: TestWorkspace, limits?: RunLimits) =>
  process.call('promote_container_files', workspace, {
    parameters: { container_id: 'sess_1' },
    body: { prefix: '' },
    ...(limits && { remainingMs: deadlineIn(limits.leftMs, limits.undoMs) }),
  })

/** All files of a container that has one, answered as if it had been asked for alone. */
const promotingMany = (what: string, prepare: Scenario['prepare']): Scenario => ({
  ...promoting(`by its prefix, ${what}`, prepare, { documentsBefore: what === 'new' ? 0 : 1 }),
  async run(process, workspace, limits) {
    const answer = await promoteMany(process, workspace, limits)
    const { data: [file] = [] } = answer.body as { data?: { document?: object; error?: { code: number } }[] }
    if (!file) return answer
    return { ...answer, status: file.error?.code ?? answer.status, body: file.document ?? file }
  },
  brokenElsewhere: /^(keys\.find|rateLimit\.take)$/,
})

const resolving = (what: string, prepare: Scenario['prepare']): Scenario => ({
  name: `the resolver after ${what} that died`,
  prepare,
  async run(process, { workspaceId }, { boundMs }) {
    await process.resolveWorkspace(workspaceId, boundMs)
    return undefined
  },
  documentsBefore: 0,
  // Broken in the expiry of a document.
  brokenElsewhere: /^documents\.listDue$/,
})

export const SCENARIOS: Scenario[] = [
  promoting('a small file', (process) => withFile(process, SMALL), { brokenElsewhere: undefined }),
  promoting('a file in parts', (process) => withFile(process, LARGE_BYTES)),
  promoting(
    'the first promotion of a workspace',
    async (process) => {
      const workspace = await process.newWorkspace()
      await process.putFile(workspace, 'a.txt', SMALL)
      return workspace
    },
    { brokenElsewhere: allBut('ledger.makeWorkspace') },
  ),
  promoting('with an Idempotency-Key', (process) => withFile(process, SMALL), {
    key: KEY,
    brokenElsewhere: allBut('documents.begin'),
  }),
  ...[undefined, KEY].map((key) =>
    promoting(
      `a copy whose SHA-256 differs${key ? ', with an Idempotency-Key' : ''}`,
      (process) => withFile(process, SMALL),
      {
        run: (process, workspace, limits) =>
          promote(process, workspace, limits, key, { 'file-sha256': '0'.repeat(64) }),
        status: 400,
        ...(key && { brokenElsewhere: allBut('documents.find') }),
        // Its undo is broken, too: what that cannot discard, the resolver does.
        strayObjects: 1,
      },
    ),
  ),
  promoting('a replay', (process) => withDocument(process, KEY), { key: KEY, documentsBefore: 1 }),
  promoting('a replay that keeps for longer', (process) => withDocument(process, KEY, { 'file-expires-in': '3600' }), {
    key: KEY,
    documentsBefore: 1,
  }),
  promoting(
    'what has expired',
    async (process) => {
      const workspace = await withDocument(process, KEY, { 'file-expires-in': '3600' })
      process.setClock(HOURS_MS)
      return workspace
    },
    {
      key: KEY,
      documentsBefore: 1,
      haveExpired: true,
      brokenElsewhere: allBut('documents.delete', 'documents.keepTombstone'),
    },
  ),
  promotingMany('new', (process) => withFile(process, SMALL)),
  promotingMany('already promoted', async (process) => {
    const workspace = await withFile(process, SMALL)
    await promoteMany(process, workspace)
    return workspace
  }),
  promoting(
    'refused for the quota',
    async (process) => {
      const workspace = await withFile(process, SMALL, TOO_MUCH.length)
      await promote(process, workspace)
      await process.putFile(workspace, 'a.txt', TOO_MUCH)
      return workspace
    },
    { status: 403, documentsBefore: 1, brokenElsewhere: /^(keys\.find|rateLimit\.take|HeadObject)$/ },
  ),
  promoting('after one that left its hold', deadPromotion('documents.record', HOURS_MS), {
    documentsBefore: 1,
    brokenElsewhere: allBut('documents.find', 'ledger.capture'),
  }),
  promoting('in place of a twin that died', deadPromotion('ledger.hold', MINUTES_MS, KEY), {
    key: KEY,
    strayObjects: 1,
    brokenElsewhere:
      /^(keys\.find|rateLimit\.take|HeadObject|ledger\.(read|hold|capture)|CopyObject|documents\.record)$/,
  }),
  resolving('a promotion', deadPromotion('UploadPartCopy', HOURS_MS)),
  {
    ...resolving('an undo', deadPromotion('documents.fence', HOURS_MS, KEY, 'documents.record')),
    brokenElsewhere: allBut('documents.fence', 'documents.removeStray'),
  },
  resolving('a deletion', deadDeletion('documents.delete')),
  {
    name: 'deleting a document',
    prepare: (process) => withDocument(process),
    async run(process, workspace, { boundMs }) {
      await process.delete(workspace.workspaceId, await documentIdOf(process, workspace), boundMs)
      return undefined
    },
    documentsBefore: 1,
  },
  {
    name: 'a deletion through the API, beside a list and a download',
    prepare: (process) => withDocument(process),
    async run(process, workspace, { leftMs, undoMs }) {
      const parameters = { document_id: await documentIdOf(process, workspace) }
      const call = (name: OperationName) =>
        process.call(name, workspace, {
          ...(name !== 'list_documents' && { parameters }),
          remainingMs: deadlineIn(leftMs, undoMs),
        })
      const answers = await Promise.all([call('delete_document'), call('list_documents'), call('download_document')])
      if (!process.mayBeReplaced()) {
        const statuses = answers.map(({ status }) => status)
        expect([200, 500, 503]).toContain(statuses[0])
        expect([200, 500, 503]).toContain(statuses[1])
        expect([302, 404, 500, 503]).toContain(statuses[2])
      }
      // The document may be gone or not, whatever was answered.
      return undefined
    },
    documentsBefore: 1,
    brokenElsewhere: allBut('documents.delete', 'ledger.payRefund'),
  },
  {
    name: 'the expiry of a document',
    prepare: (process) => withDocument(process, undefined, { 'file-expires-in': '3600' }),
    documentsBefore: 1,
    brokenElsewhere: allBut('documents.listDue', 'documents.findDue', 'documents.delete'),
    async run(process, { workspaceId }, { boundMs }) {
      process.setClock(HOURS_MS)
      await process.expire(workspaceId, boundMs)
      return undefined
    },
  },
  {
    name: 'the audit, repairing',
    prepare: withFindings,
    async run(process, { workspaceId }, { boundMs }) {
      await process.audit(workspaceId, true, boundMs)
      return undefined
    },
    documentsBefore: 2,
    brokenElsewhere: /^(documents\.(delete|nameRefund|bury)|ledger\.(beginRefund|payRefund))$/,
  },
]
