import { CloudWatch } from '@aws-sdk/client-cloudwatch'
import type { DynamoDB } from '@aws-sdk/client-dynamodb'
import { EventBridge } from '@aws-sdk/client-eventbridge'
import { Lambda } from '@aws-sdk/client-lambda'
import { SNS } from '@aws-sdk/client-sns'
import { SQS } from '@aws-sdk/client-sqs'
import type { Config } from '../../../lib/config.ts'
import { unlessMissing } from '../../deploy/describe-table.ts'
import { describeStack } from '../../deploy/stack.ts'
import { advice, type Check, problem, setupCheck } from './check.ts'

/** The surroundings of a deployed stage in its account. A stage's stack has the name of the service. */
export function deploymentChecks(config: Config, dynamoDb: DynamoDB): Check[] {
  const { serviceName, keysTable, workspacesTable, documentsTable } = config
  return [
    setupCheck(`stack ${serviceName}`, 'cloudformation:DescribeStacks', async (signal) => {
      const { StackStatus, EnableTerminationProtection } = await describeStack(serviceName, signal)
      if (!/^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE$/.test(`${StackStatus}`))
        return problem(`its status is ${StackStatus}: look at its events, and deploy again`)
      if (EnableTerminationProtection) return `${StackStatus}, protected from deletion`
      return advice(`${StackStatus}, may be deleted: deploy with deletionProtection=true where that must not happen`)
    }),
    ...[keysTable, workspacesTable, documentsTable].map((TableName) =>
      setupCheck(`deletion protection of ${TableName}`, 'dynamodb:DescribeTable', async (abortSignal) => {
        const { Table } = await dynamoDb.describeTable({ TableName }, { abortSignal })
        if (Table?.DeletionProtectionEnabled) return 'on'
        return advice('off: deploy with deletionProtection=true; for an existing table, turn it on')
      }),
    ),
    receiversCheck(serviceName),
    eventsCheck(`${serviceName}-publish-events`),
  ]
}

function receiversCheck(serviceName: string): Check {
  const actions = 'cloudwatch:DescribeAlarms, sns:ListSubscriptionsByTopic'
  return setupCheck('receivers of the alarms', actions, async (abortSignal) => {
    const query = { AlarmNamePrefix: `${serviceName}-`, MaxRecords: 100 }
    const { MetricAlarms = [] } = await new CloudWatch().describeAlarms(query, { abortSignal })
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

/** AWS gives no ARN to a subscription that nobody has confirmed. */
async function confirmedSubscriptions(TopicArn: string, abortSignal: AbortSignal): Promise<number> {
  const { Subscriptions = [] } = await new SNS().listSubscriptionsByTopic({ TopicArn }, { abortSignal })
  return Subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith('arn:')).length
}

function eventsCheck(FunctionName: string): Check {
  const actions = 'events:DescribeEventBus, lambda:ListEventSourceMappings, sqs:GetQueueAttributes'
  return setupCheck('events', actions, async (abortSignal) => {
    const options = { abortSignal }
    const lambda = new Lambda()
    const found = await lambda.getFunctionConfiguration({ FunctionName }, options).catch(unlessMissing)
    if (found === undefined) return 'none: eventBus is not set'
    const { EVENT_BUS: Name, EVENTS_QUEUE_URL: QueueUrl } = found.Environment?.Variables ?? {}
    await new EventBridge().describeEventBus({ Name }, options)
    const { EventSourceMappings } = await lambda.listEventSourceMappings({ FunctionName }, options)
    const { State, LastProcessingResult = '' } = EventSourceMappings?.[0] ?? {}
    if (State !== 'Enabled') return problem(`the stream is not read (${State}): enable the mapping within a day`)
    const asked = { QueueUrl, AttributeNames: ['ApproximateNumberOfMessages' as const] }
    const { Attributes } = await new SQS({ useQueueUrlAsEndpoint: false }).getQueueAttributes(asked, options)
    const kept = Number(Attributes?.ApproximateNumberOfMessages)
    if (kept > 0) return problem(`${kept} records made no event and are in the queue (docs/runbook.md, "Events kept")`)
    if (LastProcessingResult.startsWith('PROBLEM')) return problem(`Lambda says ${LastProcessingResult}`)
    return `go to the bus ${Name}`
  })
}
