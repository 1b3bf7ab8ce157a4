import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { API_FUNCTIONS as ENTRIES, logicalIdOf } from '../../../infra/deploy/functions.ts'
import { SERVERLESS_CLI } from '../../../infra/deploy/serverless-cli.ts'
import type { Resource as TemplateResource } from '../../../infra/deploy/template.ts'
import { run } from '../machine/program.ts'
import { oncePerRun } from '../once-per-run.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** Packaging takes some seconds; far more on a busy machine. */
export const PACKAGING_TIMEOUT_MS = 180_000
const KEY_ID = '0aaaaaaa-1111-2222-3333-444444444444'
const arn = (service: string, resource: string) => `arn:aws:${service}:us-east-1:111122223333:${resource}`

export const KEYS = {
  sandboxKmsKeyArn: arn('kms', `key/${KEY_ID}`),
  documentsKmsKeyArn: arn('kms', 'key/mrk-0aaaaaaa111122223333444444444444'),
  tablesKmsKeyArn: arn('kms', 'key/0aaaaaaa-tables'),
}
export const WRITERS = ['team/ecs-runner', 'eks-runner'].map((role) => `arn:aws:iam::111122223333:role/${role}`).join()
/** For the bucket of sandboxes that a stack creates. */
export const CREATED_SANDBOXES = { sandboxDays: '7', sandboxVersions: 'true' }
export const EXISTING = {
  ...KEYS,
  sandboxWriters: WRITERS,
  formerKmsKeyArns: [1, 2].map((one) => arn('kms', `key/0aaaaaaa-former-${one}`)).join(),
  sandboxBucket: 'platform-boxes',
  sandboxAccountId: '444455556666',
  sandboxKeyTemplate: 'tenants/{workspace_id}/boxes/{container_id}/fs/{path}',
  documentsBucket: 'platform-documents',
  documentKeyTemplate: '{workspace_id}/files/{document_id}/{attempt_id}',
  keysTable: 'platform-keys',
  workspacesTable: 'platform-workspaces',
  customDomainName: 'files.example.com',
  certificateArn: arn('acm', `certificate/${KEY_ID}`),
  hostedZoneId: 'Z0123456789ABC',
  permissionsBoundaryArn: 'arn:aws:iam::111122223333:policy/container-file-promotion-boundary',
  disableExecuteApiEndpoint: 'true',
  webAclArn: arn('wafv2', `regional/webacl/main/${KEY_ID}`),
  alarmTopicArn: arn('sns', 'ops'),
  ticketTopicArn: arn('sns', 'tickets'),
  ticketEmail: 'morning@example.com',
  reservedConcurrency: '50',
  corsAllowedOrigins: 'https://app.example.com,http://localhost:5173',
  ...{ eventBus: 'files', links: 'true' },
}
export const THRESHOLDS = {
  alarmEmail: 'ops@example.com',
  alarmServerErrorPercent: '2',
  alarmLatencyMs: '4000',
  auditRoundHours: '48',
  throttleRatePerSecond: '70',
  ...{ eventBus: 'files', links: 'true' },
}
const ON_STAND_INS = {
  sandboxBucket: 'local-sandboxes',
  documentsBucket: 'local-documents',
  ...{ eventBus: 'files', links: 'true' },
  maxFileBytes: '67108864',
  multipartThresholdBytes: '8388608',
}

/** Deployments: by default; in production with keys of one's own; and next to what exists already. */
export const VARIANTS = {
  dev: ['--stage', 'dev', ...asParams({ createGatewayLogRole: 'true' })],
  prod: ['--stage', 'prod', ...asParams({ ...THRESHOLDS, ...KEYS, ...CREATED_SANDBOXES, sandboxWriters: WRITERS })],
  existing: ['--stage', 'prod', ...asParams(EXISTING)],
  // This one is run, with the buckets that the stand-ins have, and small parts.
  standIns: ['--stage', 'e2e', ...asParams(ON_STAND_INS)],
}
export type Variant = keyof typeof VARIANTS

export interface Resource extends Omit<TemplateResource, 'DependsOn'> {
  DependsOn?: string[]
  UpdatePolicy?: object
}

export type Packaged = Awaited<ReturnType<typeof packagedService>>

/** Functions with a route, by their logical ids; and those of a stage that sets nothing. */
export const API_FUNCTIONS = ENTRIES.map(({ name }) => logicalIdOf(name))
export const API_FUNCTIONS_BY_DEFAULT = ENTRIES.filter(({ setting }) => !setting).map(({ name }) => logicalIdOf(name))

export const packagedServices = <Names extends Variant[]>(...names: Names) =>
  Promise.all(names.map(packagedService)) as Promise<{ [Name in keyof Names]: Packaged }>

/** serverless package with the bundle that is in dist/, done once for all test files of a run. */
export async function packagedService(variant: Variant) {
  const directory = await oncePerRun(`package-${variant}`, async (directory) => {
    // It has a folder of its own, because the framework works in .serverless beside serverless.yml.
    const project = join(directory, 'project')
    await copyProject(project, ['infra', 'lib', 'dist'])
    const args = ['package', '--package', join(directory, 'package'), ...VARIANTS[variant]]
    await serverless(args, project, { PROMOTION_BUILD: 'skip' })
  })
  const templateFile = join(directory, 'package', 'cloudformation-template-update-stack.json')
  const { Resources, Outputs } = JSON.parse(await readFile(templateFile, 'utf8'))
  const resources: Record<string, Resource> = Resources
  const resource = (id: string) => {
    const found = resources[id]
    if (found === undefined) throw new Error(`${variant} has no ${id}`)
    return found
  }
  const idsOfType = (type: string) => Object.keys(resources).filter((id) => resources[id]?.Type === type)
  return {
    templateFile,
    resources,
    outputs: Outputs as Record<string, { Value: unknown }>,
    resource,
    idsOfType,
    ofType: (type: string) => idsOfType(type).map(resource),
    propertiesOf: (type: string) => idsOfType(type).map((id) => resource(id).Properties),
    /** The zip of a function, by its name in serverless.yml. */
    artifact: (functionName: string) => readFile(join(directory, 'package', `${functionName}.zip`)),
  }
}

export const serverless = (args: string[], cwd: string, env: Record<string, string> = {}) =>
  run(process.execPath, [SERVERLESS_CLI, ...args], { cwd, env: { ...process.env, ...env } })

/** Copies all that the framework needs, and these folders. */
export async function copyProject(target: string, folders: string[]): Promise<void> {
  await mkdir(target, { recursive: true })
  for (const name of ['serverless.yml', 'package.json', ...folders]) {
    await cp(join(ROOT, name), join(target, name), { recursive: true })
  }
  await symlink(join(ROOT, 'node_modules'), join(target, 'node_modules'))
}

export function asParams(params: Record<string, string>): string[] {
  return Object.entries(params).flatMap(([name, value]) => ['--param', `${name}=${value}`])
}
