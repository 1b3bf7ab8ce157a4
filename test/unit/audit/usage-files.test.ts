import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { AuditTask, RoundDependencies } from '../../../lib/audit/audit-round.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { planted, playRoundOf, sumOf, workspace } from '../../support/unit/audit-rounds.ts'
import { useDirectory } from '../../support/use-directory.ts'

const ROOT = join(import.meta.dirname, '../../..')
let world: Awaited<ReturnType<typeof planted>>
let files: Map<string, string>
let deps: RoundDependencies
beforeEach(async () => {
  world = await planted()
  files = new Map()
  deps = { ...world.deps, usageFiles: { write: async (name, text) => void files.set(name, text) } }
})

/** As the function names it for the state machine. */
const unavailable = Object.assign(new ServiceError('service_unavailable'), { name: 'StoresUnavailable' })
const manifestOf = () =>
  JSON.parse(files.get([...files.keys()].find((name) => name.endsWith('/manifest.json')) ?? '') ?? 'null')
/** The lines of the files that the manifest names, by workspace. */
const linesIn = (names: string[]) =>
  names
    .flatMap((name) => (files.get(name) ?? '').trimEnd().split('\n'))
    .map((line) => JSON.parse(line))
    .toSorted((one, other) => (one.workspace_id < other.workspace_id ? -1 : 1))

describe('the usage of a round', () => {
  it('has a line for each workspace with a ledger, as that counts it, and a manifest', async () => {
    const { report } = await playRoundOf(deps)
    const manifest = manifestOf()
    expect(manifest).toMatchObject({ round_id: 'round-1', workspaces: report.workspaces, findings: report.findings })
    expect([...files.keys()].filter((name) => !name.endsWith('manifest.json'))).toEqual(manifest.files)
    const lines = linesIn(manifest.files)
    const ledgers = world.ports.stored.ledgers()
    expect(lines.map(({ workspace_id }) => workspace_id)).toEqual(
      ledgers.map(({ workspaceId }) => workspaceId).toSorted(),
    )
    for (const { workspaceId, quotaBytes, usedBytes, documents } of ledgers) {
      const line = { workspace_id: workspaceId, quota_bytes: quotaBytes, used_bytes: usedBytes, documents }
      expect(lines).toContainEqual({
        ...line,
        findings: expect.any(Number),
        added_up: true,
        counted_at: expect.stringMatching(/Z$/),
      })
    }
    const findingsOf = (n: number) => lines.find(({ workspace_id }) => workspace_id === workspace(n)).findings
    expect([findingsOf(3), findingsOf(5)]).toEqual([1, 0])
  })

  it('is the same in slices of one step each, and when each slice that has written is repeated once', async () => {
    await playRoundOf(deps)
    const whole = linesIn(manifestOf().files)
    files.clear()
    const repeated = new Set<string>()
    /** The answer of the task gets lost. */
    const invoke = async (task: AuditTask, perform: (deps: RoundDependencies) => Promise<unknown>) => {
      const before = files.size
      const answer = await perform(deps)
      if (files.size === before || repeated.has(JSON.stringify(task))) return answer
      repeated.add(JSON.stringify(task))
      throw Object.assign(new Error('lost'), { name: 'Lambda.SdkClientException' })
    }
    await playRoundOf(deps, { isTimeUp: () => true, invoke })
    expect(linesIn(manifestOf().files)).toEqual(whole)
    expect(manifestOf().files.length).toBeGreaterThan(5)
  })

  it('has no manifest when a shard was given up; what S3 refuses is tried again, and the round counted once', async () => {
    const broken = () => Promise.reject(new Error('broken'))
    await playRoundOf(deps, {
      invoke: async (task, perform) => ('state' in task && task.state.shard === 1 ? broken() : perform(deps)),
    })
    expect(files.size).toBeGreaterThan(0)
    expect(manifestOf()).toBeNull()
    const { write } = deps.usageFiles as NonNullable<RoundDependencies['usageFiles']>
    const refused = new Set<string>()
    const refuseOnce: typeof write = (name, ...rest) => {
      if (refused.has(name)) return write(name, ...rest)
      refused.add(name)
      return Promise.reject(unavailable)
    }
    world.published.length = 0
    await playRoundOf({ ...deps, usageFiles: { write: refuseOnce } })
    expect(linesIn(manifestOf().files)).toHaveLength(world.ports.stored.ledgers().length)
    expect([...refused]).toContainEqual(expect.stringMatching(/manifest/))
    expect(sumOf(world.published, 'AuditRoundsCompleted')).toBe(1)
  })

  it('has no manifest when the bucket refuses for good; the audit goes on, with one error for each shard', async () => {
    const { write } = deps.usageFiles as NonNullable<RoundDependencies['usageFiles']>
    const unbroken = await playRoundOf(world.deps)
    const errors: unknown[] = []
    const log = { ...deps.log, error: (message: string) => void errors.push(message) }
    const refuse = () => Promise.reject(Object.assign(new Error('no rights'), { name: 'AccessDenied' }))
    const { report, ids } = await playRoundOf({ ...deps, log, usageFiles: { write: refuse } }, { isTimeUp: () => true })
    expect([report.shardsIncomplete, report.notAddedUp, ids]).toEqual([0, unbroken.report.notAddedUp, unbroken.ids])
    expect(errors).toEqual(Array(3).fill('usage not written: this round has no manifest'))
    // A file is missing, so the round has none, although the bucket takes the others.
    let tries = 0
    const once: typeof write = (...args) => (tries++ === 0 ? refuse() : write(...args))
    await playRoundOf({ ...deps, usageFiles: { write: once } }, { isTimeUp: () => true })
    expect([tries > 1, manifestOf()]).toEqual([true, null])
  })
})

describe('docs/tenants-and-regions.md, "What was used"', () => {
  const directory = useDirectory('usage')

  it('makes a bill of a month: what was kept on average in complete rounds', () => {
    const page = readFileSync(join(ROOT, 'docs/tenants-and-regions.md'), 'utf8')
    const [, program = ''] = /A bill of a month[\s\S]*?```js\n([\s\S]*?)```/.exec(page) ?? []
    const put = (name: string, content: string) => {
      mkdirSync(dirname(join(directory(), 'usage', name)), { recursive: true })
      writeFileSync(join(directory(), 'usage', name), content)
    }
    const line = (workspace_id: string, gib: number) =>
      `${JSON.stringify({ workspace_id, used_bytes: gib * 2 ** 30 })}\n`
    const round = (name: string, lines: string[], isComplete = true) => {
      for (const [number, each] of lines.entries()) put(`${name}/0-${number}.jsonl`, each)
      const names = lines.map((_, number) => `${name}/0-${number}.jsonl`)
      if (isComplete) put(`${name}/manifest.json`, JSON.stringify({ files: names }))
    }
    round('2026-11-01T02-00-00Z', [line('ws_a', 1) + line('ws_b', 4), line('ws_c', 1)])
    round('2026-11-02T02-00-00Z', [line('ws_a', 2)])
    round('2026-11-03T02-00-00Z', [line('ws_a', 100)], false)
    round('2026-12-01T02-00-00Z', [line('ws_a', 100)])
    writeFileSync(join(directory(), 'bill.mjs'), program)
    const bill = execFileSync(process.execPath, ['bill.mjs'], { cwd: directory(), encoding: 'utf8', timeout: 60_000 })
    expect(bill).toBe('ws_a 1.500\nws_b 2.000\nws_c 0.500\n')
  })
})
