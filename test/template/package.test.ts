import { existsSync, globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { unzipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { API_FUNCTIONS, FUNCTIONS, keyOf, logicalIdOf } from '../../infra/deploy/functions.ts'
import { DUE_SHARDS } from '../../lib/aws/dynamodb/document-codec.ts'
import { ROOT } from '../pages/pages.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { EXISTING, packagedServices } from '../support/template/packages.ts'

const NAMES = FUNCTIONS.map(({ name }) => name)
/** Without settings. */
const BY_DEFAULT = FUNCTIONS.filter(({ setting }) => !setting).map(({ name }) => name)

const [dev, existing] = await packagedServices('dev', 'existing')

const lambda = (name: string, service = dev) => service.resource(`${logicalIdOf(name)}LambdaFunction`).Properties
const unzip = async (name: string) => {
  const files = Object.entries(unzipSync(await existing.artifact(keyOf(name))))
  return files.filter(([file]) => !file.endsWith('/'))
}

it.each(NAMES)(
  'the packaged artifact of %s is the bundle that all other suites test, and nothing else',
  async (name) => {
    const files = await unzip(name)
    expect(files.some(([file]) => file === `dist/${name}.mjs`)).toBe(existsSync(join(ROOT, `functions/${name}.ts`)))
    for (const [file, bytes] of files) {
      expect(file.startsWith(`dist/chunks/${name}/`) || file === `dist/${name}.mjs`, file).toBe(true)
      expect(Buffer.from(bytes).equals(await readFile(join(ROOT, file))), file).toBe(true)
    }
  },
)

describe('the functions', () => {
  it('are those of functions/, on the production version of Node.js', () => {
    const expected = globSync('functions/*.ts', { cwd: ROOT }).map((file) => basename(file, '.ts'))
    expect(NAMES.toSorted(), 'infra/resources/functions has a file for each').toEqual(expected.toSorted())
    const idsOf = (names: string[]) => names.map((name) => `${logicalIdOf(name)}LambdaFunction`)
    expect(existing.idsOfType('AWS::Lambda::Function')).toEqual(idsOf(NAMES))
    expect(dev.idsOfType('AWS::Lambda::Function')).toEqual(idsOf(BY_DEFAULT))
    for (const name of NAMES)
      expect(lambda(name, existing)).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] })
  })

  it('behind the gateway give up before it does, the promotion at a concurrency that may be reserved', () => {
    for (const { name } of API_FUNCTIONS) expect(lambda(name, existing).Timeout).toBe(28)
    expect(lambda('promote-container-file')).not.toHaveProperty('ReservedConcurrentExecutions')
    const { ReservedConcurrentExecutions } = lambda('promote-container-file', existing)
    expect(ReservedConcurrentExecutions).toBe(EXISTING.reservedConcurrency)
  })

  const rules = dev
    .propertiesOf('AWS::Events::Rule')
    .filter(({ Targets }) => textOf(Targets[0].Arn) === '<ResolveDueWorkLambdaFunction.Arn>')

  it('every shard of the index of due work is looked at by the resolver, each minute and once', () => {
    const shards = rules.flatMap(({ Targets }) => JSON.parse(Targets[0].Input).shards)
    expect(shards.toSorted((one: number, other: number) => one - other)).toEqual(DUE_SHARDS)
  })

  // No reserved concurrency: an account that is new has ten executions in all, and Lambda lets none of them be reserved.
  it('the resolver runs each minute, is over before it runs again, is not retried and dropped when it comes late', () => {
    expect(rules).toHaveLength(8)
    for (const rule of rules) expect(rule).toMatchObject({ ScheduleExpression: 'rate(1 minute)', State: 'ENABLED' })
    expect(lambda('resolve-due-work').Timeout).toBe(55)
    expect(lambda('resolve-due-work')).not.toHaveProperty('ReservedConcurrentExecutions')
    const invocations = dev.propertiesOf('AWS::Lambda::EventInvokeConfig')
    const ofResolver = invocations.find(({ FunctionName }) => FunctionName.Ref === 'ResolveDueWorkLambdaFunction')
    expect(ofResolver).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 })
  })

  it('keep their logs for as long as it is set', () => {
    const groups = dev.idsOfType('AWS::Logs::LogGroup')
    expect(groups).toHaveLength(BY_DEFAULT.length + 2)
    for (const id of groups) {
      const days = [dev, existing].map((service) => service.resource(id).Properties.RetentionInDays)
      expect(days, id).toEqual(['30', '90'])
    }
  })
})

it('the outputs name the address, and what operators look for', () => {
  const names = Object.keys(dev.outputs).filter((name) => !/^Serv|QualifiedArn$/.test(name))
  expect(names.toSorted()).toEqual(
    [
      ...BY_DEFAULT.flatMap((name) => [`${logicalIdOf(name)}Function`, `${logicalIdOf(name)}RoleArn`]),
      ...['BaseUrl', 'AuditRound', 'SandboxBucket', 'DocumentsBucket', 'AlarmTopic', 'TicketTopic', 'Dashboard'],
      ...['KeysTable', 'WorkspacesTable', 'DocumentsTable', 'RateLimitsTable'],
    ].toSorted(),
  )
})
