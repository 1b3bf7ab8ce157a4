import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { startEvents } from '../../infra/local/events.ts'
import { LEFTOVER_MS } from '../../lib/aws/dynamodb/ledger.ts'
import { openStores } from '../../lib/aws/stores.ts'
import { METRICS, NAMESPACE } from '../../lib/metrics.ts'
import { storeAt } from '../support/aws/store.ts'
import { changing } from '../support/aws/wrong.ts'
import { playRound } from '../support/play-round.ts'
import { startFaultProxy } from '../support/protocol/fault-proxy.ts'
import type { TestWorkspace } from '../support/protocol/workspaces.ts'
import { newAttempt, newRefund, signal } from '../support/stores/ledger-values.ts'
import { emittedMetrics, metricsOf } from '../support/template/metric-names.ts'
import { usePackagedFunctions } from '../support/template/use-packaged-functions.ts'

const { directory, service, standIns, world, start, promote, takeLines, lines } = usePackagedFunctions()

it('the packaged function promoteContainerFile answers 500 when its documents table is gone', async () => {
  const runtime = await start('promoteContainerFile', { DOCUMENTS_TABLE: 'not-there' })
  const workspace = await world().newWorkspace(10)
  await world().putFile(workspace, 'a.txt', Buffer.alloc(10))
  expect((await promote(workspace, 'a.txt', { runtime })).status).toBe(500)
})

it('the packaged function publishEvents keeps what makes no event', async () => {
  const told: string[] = []
  const { environment, stop } = await startEvents({ directory: directory(), onEvent: (line) => told.push(line) })
  const queue = environment.EVENTS_QUEUE_URL.replace(/events$/, 'container-file-promotion-dev-EventsQueue-x')
  const runtime = await start('publishEvents', { ...environment, EVENT_BUS: 'files', EVENTS_QUEUE_URL: queue })
  const [OldImage, NewImage] = [{ item_state: { S: 'pending' } }, { item_state: { S: 'ready' } }]
  const Records = [{ dynamodb: { OldImage, NewImage, SequenceNumber: '1', ApproximateCreationDateTime: 1 } }]
  expect(await runtime.invoke({ Records })).toEqual({ batchItemFailures: [] })
  await stop()
  expect(told).toEqual([expect.stringMatching(/^no event, but kept: .+ is not a string/)])
})

/** The ledger of a workspace, past the service. */
const change = ({ workspaceId }: TestWorkspace, UpdateExpression: string, values: Record<string, number>) =>
  standIns().dynamoDb.updateItem({
    TableName: standIns().config.workspacesTable,
    Key: marshall({ workspace_id: workspaceId }),
    UpdateExpression,
    ExpressionAttributeValues: marshall(values),
  })

describe('the packaged scheduled functions', () => {
  const HOUR_MS = 3_600_000
  it('resolveDueWork frees what a dead process held, and reports it', async () => {
    const workspace = await world().newWorkspace(100)
    await world().plantAttempt(workspace, { sizeBytes: 40, leaseEndsAtMs: Date.now() - HOUR_MS })
    const runtime = await start('resolveDueWork')
    expect(await runtime.invoke({})).toMatchObject({ leftovers: { resolved: 1, failed: 0, unlisted: 0, oldestMs: 0 } })
    expect(await world().stateOf(workspace)).toMatchObject({ usedBytes: 0, unfinished: 0, strays: 1 })
    const metrics = takeLines(runtime).find((line) => 'LeftoversResolved' in line)
    expect(metrics).toMatchObject({ LeftoversResolved: 1, LeftoversFailed: 0, OldestLeftover: 0 })
  })

  /** A document that expired so long ago. */
  async function expireAfterPromotion(workspace: TestWorkspace, overdueMs: number): Promise<void> {
    await world().putFile(workspace, 'a.txt', Buffer.alloc(10))
    const { id } = (await promote(workspace, 'a.txt', { headers: { 'file-expires-in': '3600' } })).body
    await standIns().dynamoDb.updateItem({
      TableName: standIns().config.documentsTable,
      Key: marshall({ workspace_id: workspace.workspaceId, document_id: id }),
      UpdateExpression: 'SET due_at = :past',
      ExpressionAttributeValues: marshall({ ':past': Date.now() - overdueMs }),
    })
  }

  it('resolveDueWork deletes what has expired, also where refunds of dead processes take all places, and reports it', async () => {
    const workspace = await world().newWorkspace(100)
    await expireAfterPromotion(workspace, 1000)
    const { ledger } = openStores({ ...standIns(), now: Date.now })
    // To each new one, those before it are leftovers, which take no place until there are too many.
    const beginRefund = (leaseEndsAtMs: number) =>
      ledger.beginRefund(newRefund(newAttempt(workspace), { leaseEndsAtMs }), signal, 0)
    for (let atMs = 1; (await beginRefund(atMs)) !== 'crowded'; ) atMs += LEFTOVER_MS + 1
    const runtime = await start('resolveDueWork')
    const quiet = { failed: 0, unlisted: 0, oldestMs: 0 }
    expect(await runtime.invoke({})).toMatchObject({ expiries: { freed: 1, ...quiet } })
    expect(await world().stateOf(workspace)).toMatchObject({ documents: 0, objects: 0, usedBytes: 0, unfinished: 0 })
    expect(takeLines(runtime)).toContainEqual(expect.objectContaining({ Expiries: 1 }))
    expect(await runtime.invoke({})).toMatchObject({ expiries: { freed: 0, ...quiet } })
    const [idle] = takeLines(runtime).filter((line) => 'OldestLeftover' in line)
    expect(Object.keys(idle ?? {}).filter((name) => /Expiries|Expiry/.test(name))).toEqual([])
  })

  it('resolveDueWork tells how late it is with what it cannot delete', async () => {
    const workspace = await world().newWorkspace(100)
    await expireAfterPromotion(workspace, HOUR_MS)
    const runtime = await start('resolveDueWork', { WORKSPACES_TABLE: 'not-there' })
    expect(await runtime.invoke({})).toMatchObject({ expiries: { freed: 0, failed: 1, unlisted: 0 } })
    const metrics = takeLines(runtime).find((line) => 'ExpiriesFailed' in line)
    expect(metrics).toMatchObject({ ExpiriesFailed: 1, OldestExpiry: expect.any(Number) })
    expect(Number(metrics?.OldestExpiry)).toBeGreaterThanOrEqual(HOUR_MS)
    expect(await (await start('resolveDueWork')).invoke({})).toMatchObject({ expiries: { freed: 1 } })
  })

  it('resolveDueWork fails when it cannot list what is due', async () => {
    const runtime = await start('resolveDueWork', { DOCUMENTS_TABLE: 'not-there' })
    await expect(runtime.invoke({})).rejects.toThrow('due work of 32 shards could not be listed')
  })

  it('eraseWorkspaces goes on with what is due, and counts what it could not erase', async () => {
    const { erasures, ledger } = openStores({ ...standIns(), now: Date.now })
    const signal = AbortSignal.timeout(60_000)
    const ask = async () => {
      const { workspaceId } = await world().newWorkspace(100)
      const to = { state: 'scheduled' as const, requestedAtMs: 1, beginsAtMs: Date.now(), dueAtMs: Date.now() }
      await erasures.change(workspaceId, { shown: undefined, to }, signal)
      const stateOf = async () => (await ledger.read(workspaceId, signal))?.erasure?.state
      return Object.assign(stateOf, { workspaceId })
    }
    const stateOfFirst = await ask()
    const broken = await start('eraseWorkspaces', { DOCUMENTS_TABLE: 'not-there' })
    expect([await broken.invoke({}), await stateOfFirst()]).toEqual([{ advanced: 0, failed: 1 }, 'erasing'])
    expect(takeLines(broken)).toContainEqual(expect.objectContaining({ ErasuresFailed: 1 }))
    const stateOfSecond = await ask()
    const { s3, config } = standIns()
    const buckets = { documents: config.documentsBucket, sandboxes: config.sandboxBucket }
    for (const [room, Bucket] of Object.entries(buckets))
      await s3.createMultipartUpload({ Bucket, Key: `${room}/${stateOfSecond.workspaceId}/1/2` })
    const runtime = await start('eraseWorkspaces')
    expect([await runtime.invoke({}), await stateOfSecond()]).toEqual([{ advanced: 1, failed: 0 }, 'verifying'])
    for (const Bucket of Object.values(buckets))
      expect((await s3.listMultipartUploads({ Bucket })).Uploads ?? []).toEqual([])
    expect(takeLines(runtime).filter((line) => 'ErasuresFailed' in line)).toEqual([])
  })

  it('auditWorkspaces, played by its state machine, finds a drift, counts and logs it, and changes nothing', async () => {
    const workspace = await world().newWorkspace(100)
    const drift = 'SET remaining_bytes = remaining_bytes - :drift ADD version :one'
    await change(workspace, drift, { ':drift': 7, ':one': 1 })
    await world().putDocumentObject(workspace, Buffer.from('belongs to no document'))
    const runtime = await start('auditWorkspaces')
    const tasks: string[] = []
    let last: Promise<unknown> = Promise.resolve()
    const report = await playRound({
      definition: service().resource('AuditRound').Properties.Definition,
      roundId: 'round-1',
      invoke: (task) => {
        tasks.push(task.task)
        // One after the other, as Lambda does in one process.
        last = last.then(() => runtime.invoke(task))
        return last
      },
      signal: AbortSignal.timeout(60_000),
    })
    expect(report).toMatchObject({ roundId: 'round-1', findings: 2, repaired: 0, shardsIncomplete: 0 })
    expect([tasks[0], tasks.at(-1)]).toEqual(['begin', 'end'])
    const { AUDIT_SHARDS } = service().resource('AuditWorkspacesLambdaFunction').Properties.Environment.Variables
    expect(tasks.filter((task) => task === 'slice')).toHaveLength(Number(AUDIT_SHARDS))
    const written = takeLines(runtime)
    const { workspaceId } = workspace
    const finding = { workspace_id: workspaceId, round_id: 'round-1', finding_id: `drift ${workspaceId}` }
    for (const line of [
      { AuditFindings: 1, kind: 'drift' },
      { AuditFindings: 1, kind: 'object_without_document' },
      { AuditFindings: 0, kind: 'document_without_object' },
      { AuditRoundsCompleted: 1 },
      { level: 'WARN', kind: 'drift', ...finding },
    ]) {
      expect(written).toContainEqual(expect.objectContaining(line))
    }
    expect(await world().stateOf(workspace)).toMatchObject({ usedBytes: 7, objects: 1 })
  })
})

it('the packaged function promoteContainerFile deletes the version of a copy that is not what was asked for', async () => {
  const real = storeAt(standIns().s3Endpoint)
  const versioned = changing(/^PUT /, ({ headers }) => ({ headers: { ...headers, 'x-amz-version-id': 'v1' } }))
  const proxy = await startFaultProxy((request) => versioned(request, real))
  // The stand-in deletes no versions, and keeps this object.
  proxy.fault = ({ method }) => (method === 'DELETE' ? { kind: 'answer', status: 204 } : undefined)
  const runtime = await start('promoteContainerFile', { AWS_ENDPOINT_URL_S3: proxy.endpoint })
  const workspace = await world().newWorkspace(10)
  await world().putFile(workspace, 'a.txt', Buffer.alloc(10))
  const refused = await promote(workspace, 'a.txt', { runtime, headers: { 'file-sha256': 'f'.repeat(64) } })
  expect([refused.status, refused.body.error.metadata.reason]).toEqual([400, 'container_file_differs'])
  const deleted = proxy.calls.filter(({ method }) => method === 'DELETE').map(({ path }) => path)
  expect(deleted).toEqual([expect.stringMatching(`/documents/${workspace.workspaceId}/.+[?&]versionId=v1`)])
  await proxy.stop()
  real.close()
})

/** Last in this file, since it looks at everything that the tests before made the functions write. */
it('the metrics that alarms watch have the namespace and dimensions of those that the functions emit', () => {
  const formOf = (name: string, identity: string) => identity.replace(name, 'NAME')
  const forms = new Set(emittedMetrics(lines).map(({ name, identity }) => formOf(name, identity)))
  const watched = service()
    .ofType('AWS::CloudWatch::Alarm')
    .flatMap(({ Properties }) => metricsOf(Properties))
    .flatMap((metric) => (metric.startsWith(`${NAMESPACE} `) ? metric : []))
  expect(watched.length).toBeGreaterThan(5)
  for (const metric of watched) {
    const name = metric.split(' ')[1] ?? ''
    expect(Object.keys(METRICS)).toContain(name)
    expect([...forms]).toContain(formOf(name, metric))
  }
})
