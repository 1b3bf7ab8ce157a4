import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import type { Environment } from '../../lib/config.ts'
import { CommandError } from './command-error.ts'

const REQUEST_TIMEOUT_MS = 5000

/** The environment of a deployed function: the settings that the service runs with. */
export async function readDeployedEnvironment(stage: string, signal: AbortSignal): Promise<Environment> {
  // The name that serverless.yml gives it.
  const FunctionName = `container-file-promotion-${stage}-promote-container-file`
  const client = new LambdaClient({
    maxAttempts: 3,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: 1000,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    }),
  })
  const isMissing = (error: unknown) => error instanceof Error && error.name === 'ResourceNotFoundException'
  try {
    const command = new GetFunctionConfigurationCommand({ FunctionName })
    const { Environment: environment } = await client.send(command, { abortSignal: signal })
    if (environment?.Error) {
      throw new CommandError('failed', `The settings of ${FunctionName} cannot be read: ${environment.Error.Message}`, {
        exitCode: 2,
      })
    }
    return environment?.Variables ?? {}
  } catch (error) {
    if (!isMissing(error)) throw error
    const message = `The stage "${stage}" is not deployed in this account and region: there is no function ${FunctionName}.`
    throw new CommandError('not_deployed', message, { exitCode: 2, cause: error })
  }
}
