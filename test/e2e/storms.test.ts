import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, useLocalService } from '../../infra/admin/connect.ts'
import type { DemoFileContent } from '../../infra/local/demo-file.ts'
import { close, listen } from '../../infra/local/listen.ts'
import { hashToken, newToken } from '../../lib/auth/api-token.ts'
import { newWorkspaceItem } from '../../lib/aws/workspace-item.ts'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { audit } from '../../lib/maintenance/audit.ts'
import type { Finding } from '../../lib/maintenance/findings.ts'
import { resolveExpiredReservations } from '../../lib/maintenance/resolve-expired-reservations.ts'
import type { Consumption } from '../support/dynamodb/limited-dynamodb.ts'
import { limitsOfEnvironment } from '../support/dynamodb/limits-of-environment.ts'
import { startLimitedDynamoDb } from '../support/dynamodb/start-limited-dynamodb.ts'

const START = join(import.meta.dirname, '../../infra/local/start.ts')
const KILLS = Number(process.env.STORM_KILLS ?? 10)
/** Of the embedded S3; the DynamoDB with limits takes any. */
const LOCAL_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', AWS_REGION: 'us-east-1' }
const SILENT = { info() {}, warn() {}, error() {}, with: () => SILENT }
const signal = AbortSignal.timeout(1_800_000)

/** Outlives the service that is killed. */
let limited: Awaited<ReturnType<typeof startLimitedDynamoDb>> | undefined
let throttled = 0
let directory: string
let port: number
let service: ChildProcess | undefined
let demo: DemoFileContent
let dynamoDb: DynamoDBClient
let s3: S3Client

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'promotion-storm-'))
  const probe = createServer()
  port = await listen(probe, 0)
  await close(probe)
  const limits = limitsOfEnvironment()
  const onCall = ({ outcome }: Consumption) => {
    if (outcome === 'throttled') throttled++
  }
  if (limits) limited = await startLimitedDynamoDb({ ...limits, onCall })
  await start()
}, 180_000)
afterAll(async () => {
  service?.kill('SIGINT')
  if (service && service.exitCode === null) await once(service, 'exit')
  await limited?.stop()
  await rm(directory, { recursive: true, force: true })
})

/** npm start, as a process of its own that can be killed. */
async function start(): Promise<void> {
  const env = { ...process.env, PORT: String(port), POWERTOOLS_LOG_LEVEL: 'SILENT' }
  for (const name of ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL_DYNAMODB']) delete env[name as keyof typeof env]
  if (limited) Object.assign(env, { AWS_ENDPOINT_URL_DYNAMODB: limited.endpoint, ...LOCAL_CREDENTIALS })
  const child = spawn(process.execPath, [START, '--directory', directory], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  service = child
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the service ended while starting:\n${output}`)))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.includes('/promote\n')) resolve()
    })
  })
  child.removeAllListeners('exit')
  demo = JSON.parse(await readFile(join(directory, 'demo.json'), 'utf8'))
  const common = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
  dynamoDb = new DynamoDBClient({ ...common, endpoint: demo.dynamodb_endpoint })
  s3 = new S3Client({ ...common, endpoint: demo.s3_endpoint })
}

/** A workspace with one file and several keys, so that no rate limit stands in the way. */
async function newWorkspace(
  workspaceId: string,
  { quotaBytes, keys, bytes }: { quotaBytes: number; keys: number; bytes: Buffer },
) {
  const tokens = Array.from({ length: keys }, newToken)
  for (const [index, token] of tokens.entries()) {
    const key = {
      token_hash: hashToken(token),
      key_id: `${workspaceId}-${index}`,
      workspace_id: workspaceId,
      kind: 'management',
      status: 'enabled',
    }
    await dynamoDb.send(new PutItemCommand({ TableName: demo.keys_table, Item: marshall(key) }))
  }
  const Item = marshall(newWorkspaceItem(workspaceId as WorkspaceId, quotaBytes))
  await dynamoDb.send(new PutItemCommand({ TableName: demo.workspaces_table, Item }))
  await s3.send(
    new PutObjectCommand({ Bucket: demo.sandbox_bucket, Key: `sandboxes/${workspaceId}/sess_1/a.bin`, Body: bytes }),
  )
  return tokens
}

/** @returns undefined when the connection broke */
async function promote(token: string, idempotencyKey?: string): Promise<{ status: number; id?: string } | undefined> {
  const url = `${demo.base_url}/containers/sess_1/files/${formatFileId('a.bin')}/promote`
  const headers = { authorization: `Bearer ${token}`, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) }
  try {
    const response = await fetch(url, { method: 'POST', headers })
    const { id } = (await response.json()) as { id?: string }
    return id === undefined ? { status: response.status } : { status: response.status, id }
  } catch {
    return undefined
  }
}

/** @returns status of the answer; undefined when the connection broke */
async function remove(token: string, id: string): Promise<number | undefined> {
  try {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${demo.base_url}/files/${id}`, { method: 'DELETE', headers })
    await response.arrayBuffer()
    return response.status
  } catch {
    return undefined
  }
}

/** @returns the ids of all pages; undefined when the connection broke, or a page was refused */
async function list(token: string): Promise<string[] | undefined> {
  const ids: string[] = []
  const headers = { authorization: `Bearer ${token}` }
  let next = ''
  try {
    do {
      const response = await fetch(`${demo.base_url}/files?limit=50${next}`, { headers })
      if (response.status !== 200) return undefined
      const { data, cursor } = (await response.json()) as { data: { id: string }[]; cursor: string | null }
      ids.push(...data.map(({ id }) => id))
      next = cursor === null ? '' : `&cursor=${cursor}`
    } while (next !== '')
    return ids
  } catch {
    return undefined
  }
}

async function auditAfterLeases(workspaceId: string) {
  const stores = connect(await useLocalService(directory))
  const deps = { ...stores, now: () => Date.now() + 3_600_000, log: SILENT }
  await resolveExpiredReservations({ maxResolutions: 10_000, timeoutEachMs: 10_000 }, deps, signal)
  const findings: Finding[] = []
  const report = await audit(
    {
      repair: false,
      deleteLostDocuments: false,
      workspaceId: workspaceId as WorkspaceId,
      onFinding: (one) => findings.push(one),
    },
    deps,
    signal,
  )
  return { stores, findings, report }
}

describe('storms over HTTP', () => {
  afterAll(() => {
    if (limited === undefined) return
    console.log(`storms: DynamoDB throttled ${throttled} calls`)
    expect(throttled).toBeGreaterThan(0)
  })

  it('200 parallel clients fill a quota exactly', { timeout: 600_000 }, async () => {
    const [size, room] = [1000, 60]
    const tokens = await newWorkspace('ws_full_storm', {
      quotaBytes: size * room,
      keys: 4,
      bytes: Buffer.alloc(size, 7),
    })
    // On a busy machine some are told to come back, and do.
    const untilThrough = async (token: string): ReturnType<typeof promote> => {
      const answer = await promote(token)
      if (answer?.status !== 429 && answer?.status !== 503) return answer
      await sleep(1000 + 4000 * Math.random())
      return untilThrough(token)
    }
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => untilThrough(tokens[i % 4] ?? '')))
    const count = (status: number) => answers.filter((answer) => answer?.status === status).length
    expect([count(200), count(403)]).toEqual([room, 200 - room])
    const { findings, report, stores } = await auditAfterLeases('ws_full_storm')
    expect(findings).toEqual([])
    expect(report).toMatchObject({ documents: room, documentBytes: room * size })
    expect(await stores.ledger.usage('ws_full_storm' as WorkspaceId, signal)).toEqual({
      quotaBytes: size * room,
      usedBytes: size * room,
    })
  })

  it(`keeps every promise while it is killed in the middle of promotions, deletions and lists, ${KILLS} times`, {
    timeout: 1_800_000,
  }, async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))
    const tokens = await newWorkspace('ws_killed', { quotaBytes: 10 ** 10, keys: 12, bytes })
    const seen: string[] = []
    const idOfKey = new Map<string, string>()
    const deletable: string[] = []
    const toBeDeleted = new Set<string>()
    const deleted = new Set<string>()
    const counts = { answers: 0, broken: 0, lists: 0 }

    // Each tells whether there was an answer.
    const promoteOne = async (token: string, key: string | undefined): Promise<boolean> => {
      const answer = await promote(token, key)
      if (answer?.id === undefined) {
        if (answer) expect([429, 503]).toContain(answer.status)
        return answer !== undefined
      }
      seen.push(answer.id)
      if (key === undefined) deletable.push(answer.id)
      else expect(idOfKey.get(key) ?? answer.id).toBe(answer.id)
      if (key !== undefined) idOfKey.set(key, answer.id)
      return true
    }
    const deleteOne = async (token: string, id: string): Promise<boolean> => {
      toBeDeleted.add(id)
      const status = await remove(token, id)
      if (status === 200) deleted.add(id)
      else if (status !== undefined) expect([429, 503]).toContain(status)
      return status !== undefined
    }
    const checkList = async (token: string): Promise<boolean> => {
      const [gone, kept] = [[...deleted], seen.filter((id) => !toBeDeleted.has(id))]
      const listed = await list(token)
      if (listed === undefined) return false
      counts.lists++
      expect(gone.filter((id) => listed.includes(id))).toEqual([])
      expect(kept.filter((id) => !listed.includes(id) && !toBeDeleted.has(id))).toEqual([])
      return true
    }

    for (let kill = 0; kill < KILLS; kill++) {
      let isStopped = false
      const client = async (token: string, index: number) => {
        for (let i = 0; !isStopped; i++) {
          const turn = (index + i) % 4
          const id = turn === 2 ? deletable.shift() : undefined
          // Every key is used by two loads: after an answer that was lost, too.
          const key = turn === 0 ? `client-${index}-${Math.floor(kill / 2)}-${i}` : undefined
          const isAnswered =
            turn === 3
              ? await checkList(token)
              : id === undefined
                ? await promoteOne(token, key)
                : await deleteOne(token, id)
          counts[isAnswered ? 'answers' : 'broken']++
          if (!isAnswered) await sleep(20)
        }
      }
      const clients = tokens.map(client)
      // On a busy machine, too, something is under way by then.
      const enough = counts.answers + 2 * tokens.length
      for (let waits = 0; counts.answers < enough && waits < 1000; waits++) await sleep(20)
      await sleep(400 + 40 * kill)
      service?.kill('SIGKILL')
      if (service) await once(service, 'exit')
      isStopped = true
      await Promise.all(clients)
      await start()
    }
    expect(seen.length).toBeGreaterThan(KILLS)
    expect(Math.min(counts.broken, deleted.size, counts.lists)).toBeGreaterThan(0)
    // Those whose answers were lost, once more: half done, done, or not begun.
    for (const id of toBeDeleted) if (!deleted.has(id)) await deleteOne(tokens[0] ?? '', id)
    await checkList(tokens[1] ?? '')

    const { findings, report, stores } = await auditAfterLeases('ws_killed')
    expect(findings).toEqual([])
    const kept = new Set(seen.filter((id) => !toBeDeleted.has(id)))
    expect(report.documents).toBeGreaterThanOrEqual(kept.size)
    for (const id of deleted)
      expect(await stores.documents.find('ws_killed' as WorkspaceId, id as never, signal)).toBe(undefined)
    for (const id of kept) {
      const document = await stores.documents.find('ws_killed' as WorkspaceId, id as never, signal)
      const object = await s3.send(new GetObjectCommand({ Bucket: demo.documents_bucket, Key: document?.objectKey }))
      expect(Buffer.from((await object.Body?.transformToByteArray()) ?? []).equals(bytes), id).toBe(true)
    }
    console.log(
      `storm: ${KILLS} kills, ${new Set(seen).size} documents answered with 200, ${deleted.size} deleted, ${counts.lists} lists, ${report.documents} kept, ${counts.broken} requests without an answer`,
    )
  })
})
