import { appendFile, readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { EventBridge } from '@aws-sdk/client-eventbridge'
import { S3 } from '@aws-sdk/client-s3'
import { SQS } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { SERVERLESS_CLI } from '../../infra/deploy/serverless-cli.ts'
import { isInstalled } from '../support/fenced-blocks.ts'
import { ROOT } from '../support/machine/admin.ts'
import { MOCK_ACCOUNT } from '../support/machine/mock-account/gate.ts'
import { rightsOf, SMALL_PARTS, type Stage, startStage } from '../support/machine/mock-account/stage.ts'
import { isMotoInstalled, PYTHON } from '../support/machine/mock-account/start.ts'
import { run, standIn } from '../support/machine/program.ts'
import { isAllowed, unusedRights } from '../support/template/iam-policies.ts'

interface Step {
  name?: string
  uses?: string
  if?: string
  run?: string
}

vi.setConfig({ testTimeout: 480_000, hookTimeout: 60_000 })

const read = (file: string) => readFile(join(ROOT, file), 'utf8')
const {
  steps,
  env: ofJob,
  environment,
} = parse(await read('.github/workflows/aws.yml')).jobs.trial as {
  steps: Step[]
  env: Record<string, string>
  environment: string
}
const INPUTS: Record<string, string> = {
  role: `arn:aws:iam::${MOCK_ACCOUNT}:role/trial`,
  region: 'eu-west-1',
  gateway_log_role: 'true',
}
const OF_JOB = Object.entries(ofJob).map(([name, value]) => [
  name,
  value.replace(/\$\{\{ inputs\.(\w+) \}\}/g, (_, input) => INPUTS[input] ?? ''),
])

// The AWS CLI is beside moto's Python, if it is not on the PATH.
const PATH = [dirname(PYTHON ?? ''), process.env.PATH].join(delimiter)
const canRun = isMotoInstalled() && (await isInstalled('aws.yml', 'sh', 'aws x', { ...process.env, PATH }))

describe.runIf(canRun)('the workflow that tries the service in an account', () => {
  let stage: Stage
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    stage = await startStage({}, 'aws-trial')
    const bin = await standIn(join(stage.project, '../bin'), {
      // Only AWS has logs, metrics and the address.
      npm: `[ "$1" = ci ] && exit
case "$*" in *smoke) set -- "$@" --no-telemetry --base-url "$API" ;; esac
shift 3; exec '${process.execPath}' infra/cli/main.ts "$@"`,
      // Of an endpoint in the environment, version 1 of the AWS CLI takes no notice for SQS.
      aws: `PATH='${PATH}' exec aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"`,
      npx: `shift; exec '${process.execPath}' '${SERVERLESS_CLI}' "$@"`,
    })
    env = {
      ...{ ...bin, ...stage.as('workflow') },
      ...{ ...Object.fromEntries(OF_JOB), AWS_DEFAULT_REGION: INPUTS.region },
      ...{ PROMOTION_BUILD: 'skip', GITHUB_STEP_SUMMARY: join(stage.project, 'summary.md') },
    }
  })
  afterAll(() => stage?.stop())

  const report = (name: string) => readFile(join(stage.project, 'report', name), 'utf8')

  /** As GitHub runs it: https://docs.github.com/actions/reference/workflow-syntax, "jobs.<job_id>.steps[*].shell". */
  async function runStep(script: string, more: NodeJS.ProcessEnv = {}) {
    const args = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script]
    await run('bash', args, { cwd: stage.project, env: { ...env, ...more } }).catch(({ stdout, stderr }) => {
      throw new Error(`${script}\n${stdout}${stderr}`)
    })
  }

  /** What happens by itself on AWS while the API is tried. */
  async function runBesideResolver(script: string) {
    const api = await stage.serve()
    const resolving = setInterval(api.resolve, 2000)
    await runStep(script, { API: api.baseUrl }).finally(() => clearInterval(resolving))
    expect(await stage.publishEvents()).toEqual([])
  }

  it('deploys a stage, tries it, restores a table, and removes it all', async () => {
    for (const { name, run: script } of steps) {
      if (script === undefined) continue
      await (name === 'Smoke' ? runBesideResolver(script) : runStep(script))
      // moto copies 64 MiB for minutes.
      if (name === 'Settings') {
        const settings = Object.entries(SMALL_PARTS).map(([setting, value]) => `${setting}: ${value}\n`)
        await appendFile(join(stage.project, 'settings/aws-trial.yml'), settings.join(''))
      }
    }
    expect(await report('smoke.txt')).toContain('No problem was found')
    expect(await report('doctor.txt')).toContain('go to the bus container-file-promotion-aws-trial.Odd_name-1')
    expect(await report('restore.txt')).toMatch(/keysTable: \S+-aws-trial-keys-at-/)
    const [message] = JSON.parse(await report('event.json')).Messages
    expect(JSON.parse(message.Body)).toMatchObject({ detail: { filename: 'smoke/Übung 100% (a+b) %2F ☃.txt' } })
    expect(await readFile(`${env.GITHUB_STEP_SUMMARY}`, 'utf8')).toContain('==> report/left.json <==')
  })

  it('leaves nothing behind but what the report names', async () => {
    await expect(stage.stack()).rejects.toThrow(/does not exist/)
    const { Buckets } = await new S3({ forcePathStyle: true }).listBuckets({})
    const { EventBuses } = await new EventBridge({}).listEventBuses({})
    const { QueueUrls = [] } = await new SQS({}).listQueues({})
    expect([await stage.tables(), Buckets, EventBuses?.map(({ Name }) => Name), QueueUrls]).toEqual([
      [],
      [],
      ['default'],
      [],
    ])
    expect(JSON.parse(await report('left.json'))).toEqual([])
  })

  it('needed no right but those that docs/deploy.md gives its role, and each of trial.json', () => {
    const asked = stage.asked.get('workflow') ?? []
    const refused = asked.filter((access) => !isAllowed(rightsOf('workflow'), access))
    // As in mock-account.test.ts.
    expect(refused.filter(({ action }) => action !== 'ecr:DescribeRepositories')).toEqual([])
    // Which versions are deleted is in a body that is not read here.
    const unseen = ['DeleteVersions: s3:DeleteObjectVersion']
    expect(unusedRights(rightsOf('workflow', ['trial']), asked)).toEqual(unseen)
  })
})

it('clears up whatever has failed, with credentials that have just been given', () => {
  const renewed = steps.findLastIndex(({ uses }) => uses?.startsWith('aws-actions/'))
  const removed = steps.findIndex(({ name }) => name === 'Remove the stack')
  expect(removed).toBe(renewed + 1)
  expect(new Set(steps.slice(renewed).map((step) => step.if))).toEqual(new Set(['always()']))
})

it('is trusted only in its environment', async () => {
  const { Statement } = JSON.parse(await read('docs/policies/github-trust.json'))
  const issuer = 'token.actions.githubusercontent.com'
  const StringEquals = {
    [`${issuer}:aud`]: 'sts.amazonaws.com',
    [`${issuer}:sub`]: `repo:OWNER/REPOSITORY:environment:${environment}`,
  }
  expect(Statement).toMatchObject([{ Action: 'sts:AssumeRoleWithWebIdentity', Condition: { StringEquals } }])
})
