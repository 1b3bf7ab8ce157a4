import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { formatFileId } from '../../../lib/ids.ts'
import { expectDocumented } from '../api/openapi.ts'
import { restEvent } from '../api/rest-event.ts'
import { createWorkspaces, type TestWorkspace } from '../protocol/workspaces.ts'
import { CALLER } from '../stores/aws-endpoints.ts'
import { type StandIns, startStandIns } from '../stores/stand-ins.ts'
import { useDirectory } from '../use-directory.ts'
import { type LambdaRuntime, startLambdaRuntime } from './lambda-runtime.ts'
import { PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from './packages.ts'

/** The functions of the packaged artifacts, as Lambda runs them, on stand-ins with the tables of the packaged template. */
export function usePackagedFunctions() {
  const directory = useDirectory('artifact')
  let service: Packaged
  let standIns: StandIns
  let world: ReturnType<typeof createWorkspaces>
  let promotion: LambdaRuntime
  const runtimes: LambdaRuntime[] = []
  const lines: Record<string, unknown>[] = []

  beforeAll(async () => {
    service = await packagedService('standIns')
    standIns = await startStandIns({
      environment: service.resource('PromoteContainerFileLambdaFunction').Properties.Environment.Variables,
      tables: service.propertiesOf('AWS::DynamoDB::Table'),
    })
    world = createWorkspaces(standIns)
    promotion = await start('promoteContainerFile')
  }, PACKAGING_TIMEOUT_MS)
  afterAll(async () => {
    await Promise.all(runtimes.map((runtime) => runtime.stop()))
    await standIns.stop()
  })

  /** @param name as in serverless.yml @param change of its environment */
  async function start(name: string, change: Record<string, string> = {}): Promise<LambdaRuntime> {
    const lambda = service.resource(`${name[0]?.toUpperCase()}${name.slice(1)}LambdaFunction`)
    const artifact = await service.artifact(name)
    const environment = {
      ...CALLER,
      AWS_ENDPOINT_URL_DYNAMODB: standIns.dynamoDbEndpoint,
      AWS_ENDPOINT_URL_S3: standIns.s3Endpoint,
      ...change,
    }
    const runtime = await startLambdaRuntime(lambda, { artifact, task: join(directory(), name), environment })
    runtimes.push(runtime)
    return runtime
  }

  /** The lines that a function wrote since the last look. */
  function takeLines(runtime: LambdaRuntime): Record<string, unknown>[] {
    const taken = runtime.takeLines()
    lines.push(...taken)
    return taken
  }

  return {
    directory,
    service: () => service,
    standIns: () => standIns,
    world: () => world,
    start,
    takeLines,
    /** All lines that were taken from any function. */
    lines,

    /** @param runtime omitted: as it was deployed */
    async promote(
      { token }: TestWorkspace,
      path: string,
      { runtime = promotion, headers = {} }: { runtime?: LambdaRuntime; headers?: Record<string, string> } = {},
    ) {
      const event = restEvent({
        containerId: 'sess_1',
        fileId: formatFileId(path),
        headers: { authorization: `Bearer ${token}`, ...headers },
      })
      const answer = await runtime.invoke(event)
      const response = { status: answer.statusCode, headers: answer.headers, body: JSON.parse(answer.body) }
      expectDocumented(response)
      takeLines(runtime)
      return response
    },
  }
}
