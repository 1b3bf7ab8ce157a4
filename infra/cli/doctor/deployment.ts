import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch'
import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import type { Config } from '../../../lib/config.ts'
import { advice, type Check, problem, setupCheck } from './check.ts'

/** The surroundings of a deployed stage in its account. A stage's stack has the name of the service. */
export function deploymentChecks(config: Config, dynamoDb: DynamoDBClient): Check[] {
  const tables = [config.keysTable, config.workspacesTable, config.documentsTable]
  return [
    stackCheck(config.serviceName),
    ...tables.map((name) => tableProtectionCheck(name, dynamoDb)),
    receiversCheck(config.serviceName),
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

/** AWS gives no ARN to a subscription that nobody has confirmed. */
async function confirmedSubscriptions(TopicArn: string, abortSignal: AbortSignal): Promise<number> {
  const command = new ListSubscriptionsByTopicCommand({ TopicArn })
  const { Subscriptions = [] } = await new SNSClient({}).send(command, { abortSignal })
  return Subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith('arn:')).length
}
