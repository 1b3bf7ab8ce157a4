import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CHECK_SHARDS } from '../../lib/aws/workspace-item.ts'
import { readConfig } from '../../lib/config.ts'
import { expectDocumented } from '../support/http/openapi.ts'
import { lambdaContext, restEvent } from '../support/http/rest-event.ts'
import { API_FUNCTION_NAMES, FUNCTION_NAMES, logicalIdOf, serverlessNameOf } from '../support/package/functions.ts'
import { textOf } from '../support/package/intrinsics.ts'
import { EXISTING, PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from '../support/package/packages.ts'

const ROOT = join(import.meta.dirname, '../..')
const FUNCTIONS = FUNCTION_NAMES.map(serverlessNameOf)
/** Cold starts load it. */
const MAX_ARTIFACT_BYTES = 200 * 1024

let directory: string
let dev: Packaged
let existing: Packaged

beforeAll(async () => {
  ;[dev, existing] = await Promise.all([packagedService('dev'), packagedService('existing')])
  directory = await mkdtemp(join(tmpdir(), 'promotion-task-'))
}, PACKAGING_TIMEOUT_MS)
afterAll(() => rm(directory, { recursive: true, force: true }))

const lambda = (functionName: string, service = dev) =>
  service.resource(`${functionName[0]?.toUpperCase()}${functionName.slice(1)}LambdaFunction`).Properties
/** The function's environment, its references replaced by names. */
const environmentOf = (functionName: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(lambda(functionName).Environment.Variables).map(([name, value]) => [
      name,
      textOf(value, { SandboxBucket: 'sandbox-bucket', DocumentsBucket: 'documents-bucket' }),
    ]),
  )
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const unzip = async (functionName: string) => {
  const files = Object.entries(unzipSync(await dev.artifact(functionName)))
  return files.filter(([name]) => !name.endsWith('/'))
}

describe('the packaged artifact', () => {
  it.each(FUNCTIONS)('of %s is the bundle that all other suites test, and nothing else', async (functionName) => {
    const files = await unzip(functionName)
    const [entry] = lambda(functionName).Handler.split('.')
    const source = join(ROOT, `${entry.replace('dist', 'functions')}.ts`)
    expect(files.some(([name]) => name === `${entry}.mjs`)).toBe(existsSync(source))
    for (const [name, bytes] of files) {
      expect(name.startsWith(`${entry.replace('dist', 'dist/chunks')}/`) || name === `${entry}.mjs`, name).toBe(true)
      expect(Buffer.from(bytes).equals(await readFile(join(ROOT, name))), name).toBe(true)
    }
  })

  it.each(FUNCTIONS)('of %s is small', async (functionName) => {
    expect((await dev.artifact(functionName)).byteLength).toBeLessThan(MAX_ARTIFACT_BYTES)
  })

  it('runs on its own, with the environment of the template, and answers as documented', async () => {
    for (const [name, bytes] of await unzip('promoteContainerFile')) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), bytes)
    }
    const environment = { ...environmentOf('promoteContainerFile'), AWS_REGION: 'us-east-1' }
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const [module, exported] = lambda('promoteContainerFile').Handler.split('.')
    const { [exported]: handler } = await import(join(directory, `${module}.mjs`))
    const answer = await handler(restEvent({ containerId: 'sess_1', fileId: 'cfile_YQ' }), lambdaContext())
    const response = { status: answer.statusCode, headers: answer.headers, body: JSON.parse(answer.body) }
    expectDocumented(response)
    expect(response).toMatchObject({ status: 401, body: { error: { metadata: { reason: 'missing_authorization' } } } })
    vi.unstubAllEnvs()
  })
})

describe('the functions', () => {
  it('are these, on the production version of Node.js', () => {
    const expected = FUNCTION_NAMES.map((name) => `${logicalIdOf(name)}LambdaFunction`)
    const packaged = dev.idsOfType('AWS::Lambda::Function')
    expect(packaged.toSorted(), 'all functions are in test/support/package/functions.ts').toEqual(expected.toSorted())
    for (const name of FUNCTIONS) {
      expect(lambda(name)).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] })
    }
  })

  it.each(FUNCTIONS)('%s has a usable configuration, and a name by function and stage', (name) => {
    const environment = environmentOf(name)
    expect(readConfig(environment)).toMatchObject({
      keysTable: 'container-file-promotion-dev-keys',
      sandboxBucket: 'sandbox-bucket',
      maxFileBytes: 5 * 1024 ** 3,
      defaultQuotaBytes: 10 * 1024 ** 3,
      multipartThresholdBytes: 64 * 1024 ** 2,
    })
    expect(environment.SERVICE_NAME).toBe('container-file-promotion-dev')
    expect(lambda(name).FunctionName).toBe(`container-file-promotion-dev-${kebab(name)}`)
  })

  it('behind the gateway give up before it does, the promotion at a concurrency that may be reserved', () => {
    for (const name of API_FUNCTION_NAMES.map(serverlessNameOf)) expect(lambda(name).Timeout).toBe(28)
    expect(lambda('promoteContainerFile')).not.toHaveProperty('ReservedConcurrentExecutions')
    const { ReservedConcurrentExecutions } = lambda('promoteContainerFile', existing)
    expect(ReservedConcurrentExecutions).toBe(EXISTING.reservedConcurrency)
  })

  const rulesOf = (name: string) => {
    const arn = { 'Fn::GetAtt': [`${name[0]?.toUpperCase()}${name.slice(1)}LambdaFunction`, 'Arn'] }
    const rules = dev.ofType('AWS::Events::Rule').map(({ Properties }) => Properties)
    return rules.filter(({ Targets }) => JSON.stringify(Targets[0].Arn) === JSON.stringify(arn))
  }

  it.each([['resolveReservations', 'rate(1 minute)', 55, 4]])(
    '%s runs by itself, at %s, without retries',
    (name, schedule, timeout, count) => {
      const rules = rulesOf(name)
      expect(rules).toHaveLength(count)
      for (const rule of rules) expect(rule).toMatchObject({ ScheduleExpression: schedule, State: 'ENABLED' })
      expect(lambda(name).Timeout).toBe(timeout)
      const invocations = dev.ofType('AWS::Lambda::EventInvokeConfig').map(({ Properties }) => Properties)
      const functionId = `${name[0]?.toUpperCase()}${name.slice(1)}LambdaFunction`
      expect(invocations).toContainEqual(
        expect.objectContaining({ FunctionName: { Ref: functionId }, MaximumRetryAttempts: 0 }),
      )
    },
  )

  it('every shard of the index of due workspaces is looked at by the resolver, each minute and once', () => {
    const shards = rulesOf('resolveReservations').flatMap(({ Targets }) => JSON.parse(Targets[0].Input).shards)
    expect(shards.toSorted((one: number, other: number) => one - other)).toEqual(CHECK_SHARDS)
  })

  // No reserved concurrency: an account that is new has ten executions in all, and Lambda lets none of them be reserved.
  it('the resolver is over before its next run is due, and a run that comes late is dropped', () => {
    expect(lambda('resolveReservations').Timeout).toBeLessThan(60)
    expect(lambda('resolveReservations')).not.toHaveProperty('ReservedConcurrentExecutions')
    const [ofResolver] = dev
      .ofType('AWS::Lambda::EventInvokeConfig')
      .filter(({ Properties }) => Properties.FunctionName.Ref === 'ResolveReservationsLambdaFunction')
    expect(ofResolver?.Properties.MaximumEventAgeInSeconds).toBe(60)
  })

  it('keep their logs for as long as it is set', () => {
    const groups = dev.idsOfType('AWS::Logs::LogGroup')
    expect(groups).toHaveLength(FUNCTIONS.length + 2)
    for (const id of groups) {
      const days = [dev, existing].map((service) => service.resource(id).Properties.RetentionInDays)
      expect(days, `infra/resources/logs.yml, ${id}`).toEqual(['30', '90'])
    }
  })
})

describe('the outputs', () => {
  it('name the address, and what operators look for', () => {
    const names = Object.keys(dev.outputs).filter((name) => !/^Serv|Arn$/.test(name))
    expect(names).toEqual([
      'BaseUrl',
      ...['PromoteFunction', 'ReadDocumentsFunction', 'DeleteDocumentFunction', 'ReadContainerFilesFunction'],
      ...['ResolverFunction', 'AuditRound', 'AuditFunction'],
      ...['KeysTable', 'WorkspacesTable', 'ReservationsTable', 'DocumentsTable', 'RateLimitsTable'],
      ...['SandboxBucket', 'DocumentsBucket', 'AlarmTopic', 'TicketTopic', 'Dashboard'],
    ])
    expect(existing.outputs.CustomDomainTarget?.Value).toEqual({
      'Fn::GetAtt': ['CustomDomain', 'RegionalDomainName'],
    })
    expect(existing.outputs.SandboxBucket?.Value).toBe(EXISTING.sandboxBucket)
  })
})
