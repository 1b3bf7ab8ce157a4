import { CloudFormation } from '@aws-sdk/client-cloudformation'
import { EventBridge } from '@aws-sdk/client-eventbridge'
import { Lambda } from '@aws-sdk/client-lambda'
import { resourcesOf } from '../../deploy/stack.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import { stackNameOf, useRegionOf } from '../connect.ts'
import { confirm, type Session } from '../session.ts'

type Properties = { ReservedConcurrentExecutions?: number | string; State?: string }

const STOPPED: Properties = { ReservedConcurrentExecutions: 0, State: 'DISABLED' }
const FUNCTION = 'AWS::Lambda::Function'
const SCHEDULE = 'AWS::Events::Rule'

/** To resume is to set functions and schedules as the stage's deployment has them. Both ways may be repeated. */
export async function switchStage(session: Session, way: 'stop' | 'resume'): Promise<void> {
  const { output, signal, target } = session
  if (target.stage === undefined) throw wrongUsage('Say which deployed stage, with --stage <name>.')
  if (way === 'stop') await confirm(`Stop all functions of the stage "${target.stage}"?`, session)
  await useRegionOf(target)
  const stackName = stackNameOf(target.stage)
  const resources = await resourcesOf(stackName, signal)
  const [functions, schedules] = [FUNCTION, SCHEDULE].map((type) => resources.filter((each) => each.type === type))
  if (!functions?.length || !schedules) {
    const message = `There is no stack ${stackName} with functions in this account and region.`
    throw new CommandError('not_deployed', message, { exitCode: 2 })
  }
  const deployed = way === 'stop' ? {} : await propertiesOf(stackName, signal)
  const inOrder = way === 'stop' ? [...schedules, ...functions] : [...functions, ...schedules]
  for (const { logicalId, physicalId: name, type } of inOrder) {
    const properties = way === 'stop' ? STOPPED : (deployed[logicalId]?.Properties ?? {})
    const set = type === FUNCTION ? setFunction : setSchedule
    const { isRunning, reservedConcurrency } = await set(name, properties, signal)
    const reserved = reservedConcurrency === undefined ? '' : `, reserved concurrency ${reservedConcurrency}`
    const text = `${name}: ${isRunning ? `runs again${reserved}` : 'stopped'}`
    output.print(text, { name, isRunning, reservedConcurrency })
  }
}

async function propertiesOf(StackName: string, abortSignal: AbortSignal) {
  const { TemplateBody = '{}' } = await new CloudFormation().getTemplate({ StackName }, { abortSignal })
  const template: { Resources?: Record<string, { Properties?: Properties }> } = JSON.parse(TemplateBody)
  return template.Resources ?? {}
}

async function setFunction(FunctionName: string, properties: Properties, abortSignal: AbortSignal) {
  const { ReservedConcurrentExecutions: reserved } = properties
  const client = new Lambda()
  if (reserved === undefined) {
    await client.deleteFunctionConcurrency({ FunctionName }, { abortSignal })
    return { isRunning: true, reservedConcurrency: undefined }
  }
  const reservedConcurrency = Number(reserved)
  const wanted = { FunctionName, ReservedConcurrentExecutions: reservedConcurrency }
  await client.putFunctionConcurrency(wanted, { abortSignal })
  return { isRunning: reservedConcurrency > 0, reservedConcurrency }
}

async function setSchedule(Name: string, { State }: Properties, abortSignal: AbortSignal) {
  const isRunning = State !== 'DISABLED'
  const client = new EventBridge()
  await (isRunning ? client.enableRule({ Name }, { abortSignal }) : client.disableRule({ Name }, { abortSignal }))
  return { isRunning, reservedConcurrency: undefined }
}
