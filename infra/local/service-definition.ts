import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { globSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Route } from './routes.ts'

/** The Serverless Framework's command, to be run by the Node.js that runs this. */
export const SERVERLESS_CLI = serverlessCli()

/** All that serverless.yml is, includes and runs. */
const SOURCES = [
  'serverless.yml',
  'infra/resources/**/*',
  'infra/deploy/**/*',
  'settings/*.yml',
  'package.json',
  'package-lock.json',
]
/** What infra/deploy/region.cjs reads. */
const REGION_VARIABLES = ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE', 'AWS_DEFAULT_PROFILE', 'AWS_CONFIG_FILE']

type KeySchema = { AttributeName: string; KeyType: 'HASH' | 'RANGE' }[]

export interface TableDefinition {
  TableName: string
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[]
  KeySchema: KeySchema
  GlobalSecondaryIndexes?: {
    IndexName: string
    KeySchema: KeySchema
    Projection: { ProjectionType: 'ALL' | 'INCLUDE' | 'KEYS_ONLY'; NonKeyAttributes?: string[] }
  }[]
  BillingMode: 'PAY_PER_REQUEST'
}

export interface GatewayResponseDefinition {
  ResponseType: string
  StatusCode?: string
  ResponseParameters: Record<string, string>
  ResponseTemplates: { 'application/json': string }
}

/** serverless.yml and what it includes, resolved for one stage: the one source of names, tables and gateway answers. */
export interface ServiceDefinition {
  environment: Record<string, string>
  tables: TableDefinition[]
  gatewayResponses: GatewayResponseDefinition[]
  routes: Route[]
}

interface Resource {
  Type: string
  Properties: unknown
}

interface FunctionDefinition {
  name: string
  events: { http?: { method: string; path: string } }[]
}

/**
 * As `serverless print` resolves it. That takes seconds, so its output is cached in dist/ until something it depends on
 * changes.
 * @param root folder of serverless.yml
 */
export async function readServiceDefinition(root: string, stage: string): Promise<ServiceDefinition> {
  const file = join(root, 'dist', `service-${stage}.json`)
  const key = await keyOf(root)
  const kept = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as { key: string; definition: ServiceDefinition },
    () => undefined,
  )
  if (kept?.key === key) return kept.definition
  const definition = await resolve(root, stage)
  await keep(file, JSON.stringify({ key, definition }))
  return definition
}

/** What a definition depends on, the variables of the environment that its files name among it. */
async function keyOf(root: string): Promise<string> {
  const files = globSync(SOURCES, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const hash = createHash('sha256')
  const variables = new Set(REGION_VARIABLES)
  for (const file of files) {
    const text = await readFile(file, 'utf8')
    hash.update(`\0${relative(root, file)}\0${text}`)
    for (const [, name = ''] of text.matchAll(/\$\{env:(\w+)/g)) variables.add(name)
  }
  for (const name of [...variables].sort()) hash.update(`\0${name}=${process.env[name] ?? '\0'}`)
  return hash.digest('hex')
}

/** Atomic. A full disk or a missing permission is not an error. */
async function keep(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(draft, text)
    await rename(draft, file)
  } catch {
    await rm(draft, { force: true }).catch(() => {})
  }
}

async function resolve(root: string, stage: string): Promise<ServiceDefinition> {
  const args = [SERVERLESS_CLI, 'print', '--stage', stage, '--format', 'json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 16 * 1024 * 1024 })
  const { provider, resources, functions } = JSON.parse(stdout)
  const all: Resource[] = Object.values(resources.Resources)
  const ofType = <Properties>(type: string) =>
    all.filter((resource) => resource.Type === type).map((resource) => resource.Properties as Properties)
  return {
    environment: provider.environment,
    tables: ofType<TableDefinition>('AWS::DynamoDB::Table'),
    gatewayResponses: ofType<GatewayResponseDefinition>('AWS::ApiGateway::GatewayResponse'),
    routes: Object.values<FunctionDefinition>(functions).flatMap(({ name, events }) =>
      events.flatMap(({ http }) =>
        http === undefined
          ? []
          : { method: http.method.toUpperCase(), resource: `/${http.path.replace(/^\//, '')}`, functionName: name },
      ),
    ),
  }
}

function serverlessCli(): string {
  const manifest = createRequire(import.meta.url).resolve('serverless/package.json')
  const { bin } = createRequire(import.meta.url)('serverless/package.json') as { bin: Record<string, string> }
  return join(dirname(manifest), bin.serverless ?? '')
}
