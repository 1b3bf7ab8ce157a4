import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyProject, serverless } from '../support/package/packages.ts'

let project: string
const NO_REGION = { AWS_REGION: '', AWS_DEFAULT_REGION: '', AWS_CONFIG_FILE: '/nowhere', AWS_PROFILE: '' }

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'promotion-settings-'))
  await copyProject(project, ['infra'])
  await mkdir(join(project, 'settings'))
  await writeFile(
    join(project, 'settings/prod.yml'),
    'region: eu-west-1\nalarmEmail: ops@example.com\nleaseMs: 90000\n',
  )
  await writeFile(join(project, 'settings/listed.yml'), '- leaseMs: 90000\n')
  await writeFile(join(project, 'aws-config'), '[default]\nregion = eu-north-1\n[profile team]\nregion=eu-south-1\n')
})
afterAll(() => rm(project, { recursive: true, force: true }))

async function printed(args: string[], env: Record<string, string> = {}) {
  const { stdout } = await serverless(['print', '--format', 'json', ...args], project, { ...NO_REGION, ...env })
  const { provider, custom } = JSON.parse(stdout)
  return { region: provider.region, settings: custom.settings }
}

/** What a person sees. */
async function refusal(args: string[], env: Record<string, string> = {}) {
  const outcome = await serverless(args, project, { ...NO_REGION, ...env }).catch((error) => error)
  expect(outcome.code).toBe(1)
  return `${outcome.stdout}${outcome.stderr}`.trim()
}

describe('settings/<stage>.yml', () => {
  it('comes before the defaults and the values of the stage, and after --param', async () => {
    const { region, settings } = await printed(['--stage', 'prod', '--param', 'leaseMs=80000'])
    expect(region).toBe('eu-west-1')
    expect(settings).toMatchObject({ alarmEmail: 'ops@example.com', leaseMs: '80000', deletionProtection: 'true' })
    expect((await printed(['--stage', 'prod'])).settings.leaseMs).toBe('90000')
    expect((await printed(['--stage', 'dev'])).settings.leaseMs).toBe('120000')
  })

  it('is refused in one sentence when it is none', async () => {
    const text = await refusal(['print', '--stage', 'listed'])
    expect(text).toContain('- settings/listed.yml is no list of parameters, one "name: value" a line')
    expect(text.split('\n')).toHaveLength(3)
  })
})

describe('the region', () => {
  it.each<[source: string, env: Record<string, string>, region: string]>([
    ['AWS_REGION', { AWS_REGION: 'ap-south-1', AWS_DEFAULT_REGION: 'eu-west-3' }, 'ap-south-1'],
    ['AWS_DEFAULT_REGION', { AWS_DEFAULT_REGION: 'eu-west-3' }, 'eu-west-3'],
    ['the default profile', { AWS_CONFIG_FILE: 'aws-config' }, 'eu-north-1'],
    ['the profile', { AWS_CONFIG_FILE: 'aws-config', AWS_PROFILE: 'team' }, 'eu-south-1'],
  ])('is taken from %s', async (_, env, expected) => {
    const file = env.AWS_CONFIG_FILE ? { AWS_CONFIG_FILE: join(project, env.AWS_CONFIG_FILE) } : {}
    expect((await printed(['--stage', 'dev'], { ...env, ...file })).region).toBe(expected)
  })

  it('is never made up for a command that reaches AWS', async () => {
    for (const command of ['deploy', 'remove']) {
      const text = await refusal([command, '--stage', 'dev'])
      expect(text).toContain('- no region: write "region: eu-west-1" into settings/dev.yml, or say --region')
    }
  })

  it('cannot be another one than the file has', async () => {
    const text = await refusal(['remove', '--stage', 'prod', '--region', 'us-east-1'])
    expect(text).toContain('- --region is us-east-1, but settings/prod.yml says eu-west-1')
  })
})

describe('what cannot be meant', () => {
  it.each([
    ['--param foo: write it as --param NAME=VALUE', ['--stage', 'dev', '--param', 'foo']],
    ['--stage is "Prod_1": allowed are 1 to 16 of a-z', ['--stage', 'Prod_1']],
  ])('is refused in a few lines: %s', async (fault, args) => {
    const text = await refusal(['package', ...args])
    expect(text).toContain(`- ${fault}`)
    expect(text.split('\n').length).toBeLessThan(5)
  })
})
