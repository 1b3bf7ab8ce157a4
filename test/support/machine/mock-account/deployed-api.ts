import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { resourcesOf } from '../../../../infra/deploy/stack.ts'
import { LOOPBACK, listen } from '../../../../infra/local/loopback.ts'
import { type LambdaRuntime, startLambdaRuntime } from '../../template/lambda-runtime.ts'
import type { Resource } from '../../template/packages.ts'
import { unzipFunction } from '../../template/unzipped-function.ts'
import type { MockAccount } from './start.ts'

interface Route {
  method: string
  /** With {placeholders}. */
  resource: string
  pattern: RegExp
  functionId: string
}

export interface DeployedApi {
  baseUrl: string
  stop(): Promise<void>
}

/**
 * What API Gateway and Lambda are for a deployed stack: its routes, answered by the zips that were uploaded, run with the environment
 * that was deployed. The AWS clients of this process must be set to the account.
 */
export async function serveDeployed(stackName: string, account: MockAccount, directory: string): Promise<DeployedApi> {
  const { TemplateBody = '' } = await new CloudFormationClient({}).send(
    new GetTemplateCommand({ StackName: stackName }),
  )
  const resources: Record<string, Resource> = JSON.parse(TemplateBody).Resources
  const routes = routesOf(resources)
  const bucket = (await resourcesOf(stackName)).find(({ logicalId }) => logicalId === 'ServerlessDeploymentBucket')
  const runtimes = new Map<string, LambdaRuntime>()
  for (const id of new Set(routes.map(({ functionId }) => functionId))) {
    const lambda = resources[id] as Resource
    const task = join(directory, id)
    const get = new GetObjectCommand({ Bucket: bucket?.physicalId, Key: lambda.Properties.Code.S3Key })
    const { Body } = await new S3Client({ forcePathStyle: true }).send(get)
    await unzipFunction((await Body?.transformToByteArray()) ?? new Uint8Array(), task)
    const command = new GetFunctionConfigurationCommand({ FunctionName: lambda.Properties.FunctionName })
    const { Environment } = await new LambdaClient({}).send(command)
    const deployed = { ...lambda, Properties: { ...lambda.Properties, Environment } }
    runtimes.set(id, await startLambdaRuntime(deployed, { task, environment: account.environment }))
  }
  const server = createServer(async (asked, answered) => {
    const [path = '', query = ''] = `${asked.url}`.split('?')
    const route = routes.find(({ method, pattern }) => method === asked.method && pattern.test(path))
    const runtime = route && runtimes.get(route.functionId)
    if (!route || !runtime) {
      const { status, body } = gatewayResponse(resources)
      return void answered.writeHead(status, { 'content-type': 'application/json' }).end(body)
    }
    const answer = await runtime.invoke(eventOf(asked, { route, path, query, body: await text(asked) }))
    // What it was shows in the function's log only.
    if (answer.statusCode >= 500) console.error(JSON.stringify(runtime.takeLines()))
    answered.writeHead(answer.statusCode, { ...answer.headers, ...answer.multiValueHeaders })
    answered.end(answer.isBase64Encoded ? Buffer.from(answer.body, 'base64') : answer.body)
  })
  return {
    baseUrl: `http://${LOOPBACK}:${await listen(server, 0)}/v1`,
    async stop() {
      server.close()
      await Promise.all([...runtimes.values()].map((runtime) => runtime.stop()))
    },
  }
}

function routesOf(resources: Record<string, Resource>): Route[] {
  const pathOf = (id: string): string => {
    const { ParentId, PathPart } = resources[id]?.Properties ?? {}
    return PathPart === undefined ? '' : `${pathOf(ParentId.Ref ?? '')}/${PathPart}`
  }
  const methods = Object.values(resources).filter(({ Type }) => Type === 'AWS::ApiGateway::Method')
  return methods.flatMap(({ Properties: { HttpMethod, ResourceId, Integration } }) => {
    const [, name] = /"(\w+?)(?:Alias|LambdaFunction)"/.exec(JSON.stringify(Integration.Uri ?? '')) ?? []
    const resource = pathOf(ResourceId.Ref ?? '')
    const pattern = new RegExp(`^${resource.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
    return name ? [{ method: HttpMethod, resource, pattern, functionId: `${name}LambdaFunction` }] : []
  })
}

function gatewayResponse(resources: Record<string, Resource>) {
  const { StatusCode, ResponseTemplates } = resources.MissingAuthenticationTokenResponse?.Properties ?? {}
  return {
    status: Number(StatusCode),
    body: ResponseTemplates['application/json'].replace('$context.requestId', randomUUID()),
  }
}

function eventOf(
  asked: IncomingMessage,
  { route, path, query, body }: { route: Route; path: string; query: string; body: string },
) {
  const parameters = new URLSearchParams(query)
  const multiple = Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]))
  return {
    resource: route.resource,
    path,
    httpMethod: asked.method,
    headers: asked.headers,
    multiValueHeaders: asked.headersDistinct,
    pathParameters: { ...route.pattern.exec(path)?.groups },
    queryStringParameters: query ? Object.fromEntries(parameters) : null,
    multiValueQueryStringParameters: query ? multiple : null,
    stageVariables: null,
    body: body === '' ? null : body,
    isBase64Encoded: false,
    requestContext: { requestId: randomUUID() },
  }
}
