import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch'
import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DescribeEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { GetFunctionConfigurationCommand, LambdaClient, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda'
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { Config } from '../../../lib/config.ts'
import { advice, type Check, isNamed, problem, setupCheck } from './check.ts'

/** The surroundings of a deployed stage in its account. A stage's stack has the name of the service. */
export function deploymentChecks(config: Config, dynamoDb: DynamoDBClient): Check[] {
  const tables = [config.keysTable, config.workspacesTable, config.documentsTable]
  return [
    stackCheck(config.serviceName),
    ...tables.map((name) => tableProtectionCheck(name, dynamoDb)),
    receiversCheck(config.serviceName),
    eventsCheck(`${config.serviceName}-publish-events`),
  ]
}

function stackCheck(StackName: string): Check {
  return setupCheck(`stack ${StackName}`, 'cloudformation:DescribeStacks', async (abortSignal) => {
    const client = new CloudFormationClient({})
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }), { abortSignal })
    const { StackStatus, EnableTerminationProtection } = Stacks?.[0] ?? {}
    if (!/^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE$/.test(StackStatus ?? '')) {
      return problem(`its status is ${StackStatus}: look at its events, and deploy again`)
    }
    if (EnableTerminationProtection) return `${StackStatus}, protected from deletion`
    return advice(`${StackStatus}, may be deleted: deploy with deletionProtection=true where that must not happen`)
  })
}

function tableProtectionCheck(TableName: string, client: DynamoDBClient): Check {
  return setupCheck(`deletion protection of ${TableName}`, 'dynamodb:DescribeTable', async (abortSignal) => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }), { abortSignal })
    if (Table?.DeletionProtectionEnabled) return 'on'
    return advice('off: deploy with deletionProtection=true; for an existing table, turn it on')
  })
}

function receiversCheck(serviceName: string): Check {
  const actions = 'cloudwatch:DescribeAlarms, sns:ListSubscriptionsByTopic'
  return setupCheck('receivers of the alarms', actions, async (abortSignal) => {
    const query = new DescribeAlarmsCommand({ AlarmNamePrefix: `${serviceName}-`, MaxRecords: 100 })
    const { MetricAlarms = [] } = await new CloudWatchClient({}).send(query, { abortSignal })
    if (MetricAlarms.length === 0) return problem('there are no alarms of this stage: deploy it again')
    const silent = MetricAlarms.filter(({ ActionsEnabled, AlarmActions }) => !ActionsEnabled || !AlarmActions?.length)
    if (silent.length > 0) return advice(`nobody is notified by ${silent.map(({ AlarmName }) => AlarmName).join(', ')}`)
    const targets = [...new Set(MetricAlarms.flatMap(({ AlarmActions = [] }) => AlarmActions))]
    const topics = targets.filter((arn) => arn.includes(':sns:'))
    const counts = await Promise.all(topics.map((arn) => confirmedSubscriptions(arn, abortSignal)))
    const unheard = topics.filter((_, index) => counts[index] === 0)
    if (unheard.length > 0)
      return advice(`nobody is notified by ${unheard.join(', ')}: subscribe to it, and confirm it`)
    const receivers = counts.reduce((sum, count) => sum + count, 0) + targets.length - topics.length
    return `${MetricAlarms.length} alarms, ${receivers} receivers`
  })
}

function eventsCheck(FunctionName: string): Check {
  const actions = 'events:DescribeEventBus, lambda:ListEventSourceMappings, sqs:GetQueueAttributes'
  return setupCheck('events', actions, async (abortSignal) => {
    const lambda = new LambdaClient({})
    const described = lambda.send(new GetFunctionConfigurationCommand({ FunctionName }), { abortSignal })
    const found = await described.catch((error) => {
      if (!isNamed(error, /^ResourceNotFound/)) throw error
    })
    if (found === undefined) return 'none: eventBus is not set'
    const { EVENT_BUS: Name, EVENTS_QUEUE_URL: QueueUrl } = found.Environment?.Variables ?? {}
    await new EventBridgeClient({}).send(new DescribeEventBusCommand({ Name }), { abortSignal })
    const listed = await lambda.send(new ListEventSourceMappingsCommand({ FunctionName }), { abortSignal })
    const { State, LastProcessingResult = '' } = listed.EventSourceMappings?.[0] ?? {}
    if (State !== 'Enabled') return problem(`the stream is not read (${State}): enable the mapping within a day`)
    const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] })
    const { Attributes } = await new SQSClient({ useQueueUrlAsEndpoint: false }).send(asked, { abortSignal })
    const kept = Number(Attributes?.ApproximateNumberOfMessages)
    if (kept > 0) return problem(`${kept} records made no event and are in the queue (docs/runbook.md, "Events kept")`)
    if (LastProcessingResult.startsWith('PROBLEM')) return problem(`Lambda says ${LastProcessingResult}`)
    return `go to the bus ${Name}`
  })
}

/** AWS gives no ARN to a subscription that nobody has confirmed. */
async function confirmedSubscriptions(TopicArn: string, abortSignal: AbortSignal): Promise<number> {
  const command = new ListSubscriptionsByTopicCommand({ TopicArn })
  const { Subscriptions = [] } = await new SNSClient({}).send(command, { abortSignal })
  return Subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith('arn:')).length
}
