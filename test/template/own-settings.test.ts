import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ServiceDefinition } from '../../infra/deploy/service-definition.ts'
import { ofType } from '../../infra/deploy/template.ts'
import type * as Variables from '../../infra/deploy/variables.ts'
import { copyProject, serverless } from '../support/template/packages.ts'
import { useDirectory } from '../support/use-directory.ts'

const NOWHERE = { AWS_REGION: '', AWS_DEFAULT_REGION: '', AWS_CONFIG_FILE: '/nowhere', AWS_PROFILE: '' }
/** A project with settings of its own, and what its serverless.yml asks for. */
const project = useDirectory('settings')
let variables: typeof Variables
let printed: string

beforeAll(async () => {
  await copyProject(project(), ['infra', 'lib'])
  await mkdir(join(project(), 'settings'))
  const write = (file: string, text: string) => writeFile(join(project(), file), text)
  await write('settings/prod.yml', 'region: eu-west-1\nalarmEmail: ops@example.com\nrateLimitPerMinute: 900\n')
  await write('settings/listed.yml', '- rateLimitPerMinute: 900\n')
  await write('aws-config', '[default]\nregion = eu-north-1\n[profile team]\nregion=eu-south-1\n')
  variables = await import(join(project(), 'infra/deploy/variables.ts'))
})

beforeEach(() => {
  printed = ''
  for (const [name, value] of Object.entries(NOWHERE)) vi.stubEnv(name, value)
  vi.spyOn(console, 'error').mockImplementation((text) => {
    printed += text
  })
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`)
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

type Options = Variables.Framework['options']
const given = (options: Options) => ({ options, resolveVariable: async () => undefined })
const regionOf = (options: Options, command: string) => {
  vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', 'serverless', command])
  return variables.region(given(options))
}

it('settings/<stage>.yml comes before the defaults and the values of the stage, and after --param', async () => {
  const args = ['print', '--format', 'json', '--stage', 'prod', '--param', 'rateLimitPerMinute=800']
  const { provider, custom } = JSON.parse((await serverless(args, project(), NOWHERE)).stdout)
  expect(provider.region).toBe('eu-west-1')
  const expected = { alarmEmail: 'ops@example.com', rateLimitPerMinute: '800', deletionProtection: 'true' }
  expect(custom.settings).toMatchObject(expected)
  const { default: defaults, prod } = await variables.parameters(given({ stage: 'prod' }))
  expect([prod?.rateLimitPerMinute, defaults?.rateLimitPerMinute]).toEqual(['900', '600'])
})

describe('the region', () => {
  it.each<[source: string, env: Record<string, string>, region: string, options?: Options]>([
    ['AWS_REGION', { AWS_REGION: 'ap-south-1', AWS_DEFAULT_REGION: 'eu-west-3' }, 'ap-south-1'],
    ['AWS_DEFAULT_REGION', { AWS_DEFAULT_REGION: 'eu-west-3' }, 'eu-west-3'],
    ['the default profile', { AWS_CONFIG_FILE: 'aws-config' }, 'eu-north-1'],
    ['the profile', { AWS_CONFIG_FILE: 'aws-config', AWS_PROFILE: 'team' }, 'eu-south-1'],
    ['--region', { AWS_REGION: 'ap-south-1' }, 'eu-west-3', { region: 'eu-west-3' }],
    ['the profile that is said', { AWS_CONFIG_FILE: 'aws-config' }, 'eu-south-1', { 'aws-profile': 'team' }],
  ])('is taken from %s', async (_, env, expected, options) => {
    const file = env.AWS_CONFIG_FILE ? { AWS_CONFIG_FILE: join(project(), env.AWS_CONFIG_FILE) } : {}
    for (const [name, value] of Object.entries({ ...env, ...file })) vi.stubEnv(name, value)
    expect(await regionOf({ stage: 'dev', ...options }, 'deploy')).toBe(expected)
  })

  it('is made up for a command only that does not reach AWS', async () => {
    expect(await regionOf({ stage: 'dev' }, 'print')).toBe('us-east-1')
  })
})

describe('what cannot be meant', () => {
  const parameters = (options: Options) => variables.parameters(given(options))
  const noRegion = 'no region: write "region: eu-west-1" into settings/dev.yml, or say --region'
  const otherRegion = '--region is us-east-1, but settings/prod.yml says eu-west-1'
  it.each<[fault: string, ask: () => Promise<unknown>]>([
    ['settings/listed.yml is no list of parameters, one "name: value" a line', () => parameters({ stage: 'listed' })],
    ['--stage is "Prod_1": allowed are 1 to 16 of a-z', () => parameters({ stage: 'Prod_1' })],
    ['--stage is "a-stage-with-seven": allowed are', () => parameters({ stage: 'a-stage-with-seven' })],
    [noRegion, () => regionOf({ stage: 'dev' }, 'deploy')],
    [noRegion, () => regionOf({ stage: 'dev' }, 'remove')],
    [otherRegion, () => regionOf({ stage: 'prod', region: 'us-east-1' }, 'remove')],
  ])('is refused in a few lines: %s', async (fault, ask) => {
    await expect(ask()).rejects.toThrow('exit 1')
    expect(printed.trim().split('\n').length).toBeLessThan(5)
    expect(printed).toContain(`- ${fault}`)
  })
})

it('what npm start and the tests read without the framework is what the framework makes of serverless.yml', async () => {
  const { readServiceDefinition } = await import(join(project(), 'infra/deploy/service-definition.ts'))
  const env = { S3_FORCE_PATH_STYLE: 'true', CORS_ALLOWED_ORIGINS: 'https://one.example' }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  await writeFile(join(project(), 'settings/local.yml'), 'rateLimitPerMinute: 700\n')
  const print = ['print', '--format', 'json', '--stage', 'local']
  const { stdout } = await serverless(print, project(), { ...NOWHERE, ...env })
  const { provider, resources, functions } = JSON.parse(stdout)
  const { CORS_ALLOWED_ORIGINS } = env
  expect(provider.environment).toMatchObject({ RATE_LIMIT_PER_MINUTE: '700', CORS_ALLOWED_ORIGINS })
  const definition: ServiceDefinition = readServiceDefinition()
  expect(definition.environment).toEqual({ ...provider.environment, S3_FORCE_PATH_STYLE: 'true' })
  expect(definition.tables).toEqual(ofType(resources, 'AWS::DynamoDB::Table').map(([, { Properties }]) => Properties))
  // All else of a function is written once, for both.
  const names = Object.values<{ name: string }>(functions).map(({ name }) => name)
  expect(definition.functions.map(({ name }) => name)).toEqual(names)
  expect(names).toEqual(expect.arrayContaining(definition.routes.map(({ functionName }) => functionName)))
})
