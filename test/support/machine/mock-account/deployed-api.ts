import { join } from 'node:path'
import { CloudFormation } from '@aws-sdk/client-cloudformation'
import { Lambda } from '@aws-sdk/client-lambda'
import { S3 } from '@aws-sdk/client-s3'
import type { Route } from '../../../../infra/deploy/service-definition.ts'
import { resourcesOf } from '../../../../infra/deploy/stack.ts'
import { ofType, type Template } from '../../../../infra/deploy/template.ts'
import { startGateway } from '../../../../infra/local/gateway/gateway.ts'
import { LOOPBACK } from '../../../../infra/local/loopback.ts'
import { type LambdaRuntime, startLambdaRuntime } from '../../template/lambda-runtime.ts'
import { pathOf } from '../../template/packaged-gateway.ts'
import type { Resource } from '../../template/packages.ts'
import type { MockAccount } from './start.ts'

export type DeployedApi = Awaited<ReturnType<typeof serveDeployed>>

/**
 * Stands in for API Gateway and Lambda: the gateway of npm start serves the deployed stack's routes, and the uploaded
 * zips answer, run with the deployed environment. The AWS clients of this process must be set to the account.
 */
export async function serveDeployed(stackName: string, account: MockAccount, directory: string) {
  const { TemplateBody = '' } = await new CloudFormation({}).getTemplate({ StackName: stackName })
  const template: Template = JSON.parse(TemplateBody)
  const routes = routesOf(template)
  const bucket = (await resourcesOf(stackName)).find(({ logicalId }) => logicalId === 'ServerlessDeploymentBucket')
  const byThemselves = ['ResolveDueWork', 'EraseWorkspaces', 'PublishEvents']
    .map((name) => `${name}LambdaFunction`)
    .filter((id) => template.Resources[id])
  const ids = new Set([...routes.map(({ functionName }) => functionName), ...byThemselves])
  const runtimes = new Map<string, LambdaRuntime>()
  const gateway = await startGateway({
    port: 0,
    routes,
    corsAllowedOrigins: [],
    async invoke(id, event) {
      const runtime = runtimes.get(id)
      const answer = await runtime?.invoke(event)
      // Only the function's log shows what went wrong.
      if (answer.statusCode >= 500) console.error(JSON.stringify(runtime?.takeLines()))
      return answer
    },
  })
  // The address of the account's gateway leads nowhere.
  const environment = { ...account.environment, LINKS_URL: `http://${LOOPBACK}:${gateway.port}/l` }
  const start = async (id: string): Promise<[string, LambdaRuntime]> => {
    const lambda = template.Resources[id] as Resource
    const { Code, FunctionName } = lambda.Properties
    const uploaded = { Bucket: bucket?.physicalId, Key: Code.S3Key }
    const { Body } = await new S3({ forcePathStyle: true }).getObject(uploaded)
    const artifact = (await Body?.transformToByteArray()) ?? new Uint8Array()
    const { Environment } = await new Lambda({}).getFunctionConfiguration({ FunctionName })
    const deployed = { ...lambda, Properties: { ...lambda.Properties, Environment } }
    return [id, await startLambdaRuntime(deployed, { artifact, task: join(directory, id), environment })]
  }
  for (const [id, runtime] of await Promise.all([...ids].map(start))) runtimes.set(id, runtime)
  return {
    baseUrl: `http://${LOOPBACK}:${gateway.port}/v1`,
    /** Runs the resolver, as its schedules do. */
    resolve: () => runtimes.get('ResolveDueWorkLambdaFunction')?.invoke({}),
    /** Goes on with erasures, as its schedule does. */
    erase: () => runtimes.get('EraseWorkspacesLambdaFunction')?.invoke({}),
    async publish(event: object) {
      const runtime = runtimes.get('PublishEventsLambdaFunction')
      const answer = await runtime?.invoke(event)
      if (answer.batchItemFailures.length > 0) console.error(JSON.stringify(runtime?.takeLines()))
      return answer
    },
    async stop() {
      await gateway.stop()
      await Promise.all([...runtimes.values()].map((runtime) => runtime.stop()))
    },
  }
}

/** The routes, each with the logical id of its function as the name. */
function routesOf(template: Template): Route[] {
  return ofType(template, 'AWS::ApiGateway::Method').flatMap(([, { Properties }]) => {
    const [, name] = /"(\w+?)(?:Alias|LambdaFunction)"/.exec(JSON.stringify(Properties.Integration.Uri ?? '')) ?? []
    if (name === undefined) return []
    const resource = pathOf(Properties.ResourceId.Ref, { resource: (id) => template.Resources[id] as Resource })
    return [{ method: Properties.HttpMethod, resource, functionName: `${name}LambdaFunction` }]
  })
}
