import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import { DisableRuleCommand, EnableRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { DeleteFunctionConcurrencyCommand, LambdaClient, PutFunctionConcurrencyCommand } from '@aws-sdk/client-lambda'
import { resourcesOf, type StackResource } from '../deploy/stack.ts'
import { CommandError } from './command-error.ts'

/** What was done to one function or schedule. */
export interface Switched {
  name: string
  isRunning: boolean
  /** Of a function that runs again: what the deployment reserves for it. */
  reservedConcurrency?: number
}

type OnSwitched = (switched: Switched) => void

const FUNCTION = 'AWS::Lambda::Function'
const SCHEDULE = 'AWS::Events::Rule'

/**
 * Stops a stage: its schedules are off, and none of its functions takes a request. What is under way ends by itself, within the
 * 28 seconds of a request, or the minutes of a scheduled run. May be repeated.
 */
export async function stopService(stackName: string, onSwitched: OnSwitched, abortSignal: AbortSignal): Promise<void> {
  const resources = await switchesOf(stackName, abortSignal)
  const events = new EventBridgeClient({})
  const lambda = new LambdaClient({})
  for (const { physicalId: Name } of ofType(resources, SCHEDULE)) {
    await events.send(new DisableRuleCommand({ Name }), { abortSignal })
    onSwitched({ name: Name, isRunning: false })
  }
  for (const { physicalId: FunctionName } of ofType(resources, FUNCTION)) {
    const none = { FunctionName, ReservedConcurrentExecutions: 0 }
    await lambda.send(new PutFunctionConcurrencyCommand(none), { abortSignal })
    onSwitched({ name: FunctionName, isRunning: false })
  }
}

/** Undoes {@link stopService}: functions and schedules are again as the stage's deployment has them. May be repeated. */
export async function resumeService(
  stackName: string,
  onSwitched: OnSwitched,
  abortSignal: AbortSignal,
): Promise<void> {
  const resources = await switchesOf(stackName, abortSignal)
  const deployed = await deployedProperties(stackName, abortSignal)
  const events = new EventBridgeClient({})
  const lambda = new LambdaClient({})
  for (const { logicalId, physicalId: FunctionName } of ofType(resources, FUNCTION)) {
    const reserved = deployed[logicalId]?.ReservedConcurrentExecutions
    if (reserved === undefined) {
      await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }), { abortSignal })
      onSwitched({ name: FunctionName, isRunning: true })
      continue
    }
    const reservedConcurrency = Number(reserved)
    const as = { FunctionName, ReservedConcurrentExecutions: reservedConcurrency }
    await lambda.send(new PutFunctionConcurrencyCommand(as), { abortSignal })
    onSwitched({ name: FunctionName, isRunning: true, reservedConcurrency })
  }
  for (const { logicalId, physicalId: Name } of ofType(resources, SCHEDULE)) {
    if (deployed[logicalId]?.State === 'DISABLED') continue
    await events.send(new EnableRuleCommand({ Name }), { abortSignal })
    onSwitched({ name: Name, isRunning: true })
  }
}

async function switchesOf(stackName: string, signal: AbortSignal): Promise<StackResource[]> {
  const resources = await resourcesOf(stackName, signal)
  if (ofType(resources, FUNCTION).length > 0) return resources
  const message = `There is no stack ${stackName} with functions in this account and region.`
  throw new CommandError('not_deployed', message, { exitCode: 2 })
}

const ofType = (resources: StackResource[], type: string) => resources.filter((resource) => resource.type === type)

interface SwitchProperties {
  ReservedConcurrentExecutions?: number | string
  State?: string
}

async function deployedProperties(
  StackName: string,
  abortSignal: AbortSignal,
): Promise<Record<string, SwitchProperties | undefined>> {
  const client = new CloudFormationClient({})
  const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand({ StackName }), { abortSignal })
  const { Resources = {} } = JSON.parse(TemplateBody) as {
    Resources?: Record<string, { Properties: SwitchProperties }>
  }
  return Object.fromEntries(Object.entries(Resources).map(([id, { Properties }]) => [id, Properties]))
}
