import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CloudWatch } from '@aws-sdk/client-cloudwatch'
import { Lambda } from '@aws-sdk/client-lambda'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SERVERLESS_CLI } from '../../infra/deploy/serverless-cli.ts'
import { fencedBlocks } from '../support/fenced-blocks.ts'
import { ROOT } from '../support/machine/admin.ts'
import { SMALL_PARTS, STACK, type Stage, startStage } from '../support/machine/mock-account/stage.ts'
import { isMotoInstalled } from '../support/machine/mock-account/start.ts'
import { run, standIn } from '../support/machine/program.ts'

const MINUTES_MS = 60_000
const FUNCTION = `${STACK}-promote-container-file`
vi.setConfig({ testTimeout: 8 * MINUTES_MS, hookTimeout: 8 * MINUTES_MS })

// One story: an incident after an upgrade, and the way back that docs/deploy.md describes.
describe.runIf(isMotoInstalled())('a stage whose new version is no good, with an alarm on', () => {
  let stage: Stage
  let good: string | undefined
  let bad: string | undefined
  beforeAll(async () => {
    stage = await startStage()
    await stage.settings(SMALL_PARTS)
    await writeFile(join(stage.project, '.gitignore'), 'node_modules\nsettings\n.serverless\n')
    await git('init', '--quiet')
    await commit('good')
    expect((await stage.deploy()).hasSucceeded).toBe(true)
    good = await liveCode()
    expect(await stage.keysOfTables(...(await stage.tables()))).toEqual([expect.stringMatching(/:key\/(?!0bbbbbbb-)/)])
    await appendFile(join(stage.project, 'dist/promote-container-file.mjs'), '\n// A bug.\n')
    await commit('bad')
    await stage.settings({ createGatewayLogRole: 'false', ...SMALL_PARTS })
    expect((await stage.deploy()).hasSucceeded).toBe(true)
    bad = await liveCode()
    expect(bad).not.toBe(good)
    const alarm = { AlarmName: `${STACK}-server-error-rate`, StateValue: 'ALARM', StateReason: 'a test' } as const
    await new CloudWatch({}).setAlarmState(alarm)
  })
  afterAll(() => stage?.stop())

  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: stage.project })
  async function commit(tag: string) {
    await git('add', '--all')
    await git('commit', '--quiet', '--no-verify', '--message', tag)
    await git('tag', tag)
  }
  const live = { FunctionName: FUNCTION, Qualifier: 'live' }
  const liveCode = async () => (await new Lambda({}).getFunctionConfiguration(live)).CodeSha256

  it('is not brought back by repeating the former deployment: its gradual shift heeds the alarm', async () => {
    const stopped = { hasSucceeded: false, output: expect.stringContaining('alarms are on') }
    expect(await stage.rollBack()).toEqual(stopped)
    expect(await liveCode()).toBe(bad)
  })

  it('comes back by the commands of the page, with all its tags', async () => {
    const before = [await stage.tables(), await stage.keptBuckets()]
    const calls = await runCommandsOfPage()
    expect(await liveCode()).toBe(good)
    expect([await stage.tables(), await stage.keptBuckets()]).toEqual(before)
    expect((await stage.stack())?.Tags).toEqual(
      expect.arrayContaining([
        { Key: 'service', Value: 'container-file-promotion' },
        { Key: 'stage', Value: 'prod' },
      ]),
    )
    expect(calls).toEqual(['ci', 'run admin -- --stage prod smoke'])
    await stage.admin('workspaces', 'create', 'ws_back')
    await stage.serve()
    expect(await stage.promoteInto('ws_back')).toMatch(/^file_/)
    // Here, buckets and tables have no KMS key.
    expect((await stage.admin(...'workspaces delete ws_back --erase --after 0s --yes'.split(' '))).code).toBe(0)
    expect(await stage.erase('ws_back')).toEqual({ advanced: 1, failed: 0 })
  })

  /** The first block of «Roll back». npm is a stand-in that writes down what it is asked for. */
  async function runCommandsOfPage(): Promise<string[]> {
    const [, section = ''] = (await readFile(join(ROOT, 'docs/deploy.md'), 'utf8')).split('\n## Roll back\n')
    const [block] = fencedBlocks(section)
    const script = `${block?.text}`.replaceAll('COMMIT', 'good')
    const log = join(stage.project, '../calls')
    const found = await standIn(join(stage.project, '../bin'), {
      npm: `echo "$*" >> '${log}'`,
      npx: `shift; exec '${process.execPath}' '${SERVERLESS_CLI}' "$@"`,
    })
    const env = { ...found, AWS_REGION: '', PROMOTION_BUILD: 'skip' }
    await run('bash', ['-eu', '-c', script], { cwd: stage.project, env }).catch(({ stdout, stderr }) => {
      throw new Error(`${stdout}${stderr}`)
    })
    return (await readFile(log, 'utf8')).trim().split('\n')
  }
})
