import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Route } from './routes.ts'

/** The Serverless Framework's command, to be run by the Node.js that runs this. */
export const SERVERLESS_CLI = serverlessCli()

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

/** @param root folder of serverless.yml */
export async function readServiceDefinition(root: string, stage: string): Promise<ServiceDefinition> {
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
