import { APIGatewayClient, GetAccountCommand } from '@aws-sdk/client-api-gateway'
import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb'
import {
  GetFunctionConcurrencyCommand,
  LambdaClient,
  ResourceNotFoundException as LambdaNotFound,
} from '@aws-sdk/client-lambda'
import { adviceOnShards, concurrencyOfAccount } from './concurrency.ts'
import { physicalNamePrefix, ROLE_NAME_LENGTH } from './physical-name.ts'
import { resourcesOf, type StackResource } from './stack.ts'

/** What is about to be deployed, as far as it depends on the account. */
export interface Intention {
  stackName: string
  createsGatewayLogRole: boolean
  auditShards: number
  /** 0: none. */
  reservedConcurrency: number
  /** Those that the template creates, with the parameter that could name an existing one instead. */
  newTables: readonly { parameter: string; name: string }[]
  /** Existing tables that the parameters name, with the indexes that the service reads. */
  existingTables: readonly { parameter: string; name: string; indexes: readonly string[] }[]
}

export interface Findings {
  /** The deployment would fail, half way. */
  problems: string[]
  /** What could not be checked. */
  warnings: string[]
}

/** Looks in the account for anything that would make the deployment fail half way. Changes nothing. */
export async function examineAccount(intention: Intention): Promise<Findings> {
  const findings: Findings = { problems: [], warnings: [] }
  const looks = [
    { action: 'apigateway:GET on /account', look: () => problemsInGatewayLogRole(intention) },
    {
      action: 'lambda:GetAccountSettings and GetFunctionConcurrency',
      look: () => problemsInConcurrency(intention, findings),
    },
    {
      action: 'cloudformation:ListStackResources and dynamodb:DescribeTable',
      look: async () => problemsInTables(intention, await resourcesOf(intention.stackName)),
    },
  ]
  for (const { action, look } of looks) {
    try {
      findings.problems.push(...(await look()))
    } catch (error) {
      if (!isDenied(error)) throw error
      findings.warnings.push(`these credentials lack ${action}: not looked at before the deployment`)
    }
  }
  return findings
}

/** API Gateway developer guide, "Set up CloudWatch logging": one role for all APIs of an account in a region. */
async function problemsInGatewayLogRole({ stackName, createsGatewayLogRole }: Intention): Promise<string[]> {
  const { cloudwatchRoleArn: role } = await new APIGatewayClient({}).send(new GetAccountCommand({}))
  const ownRole = physicalNamePrefix({ stackName, logicalId: 'GatewayLogRole' }, ROLE_NAME_LENGTH)
  if (role && createsGatewayLogRole && !role.includes(`/${ownRole}`)) {
    return [
      `createGatewayLogRole is true, but API Gateway has a role for logs in this account and region (${role}): leave it out, and that one is used`,
    ]
  }
  if (role || createsGatewayLogRole) return []
  return [
    'API Gateway has no role to write logs with in this account and region: add --param createGatewayLogRole=true, once for all stages',
  ]
}

/** Lambda developer guide, "Reserved concurrency": what no function has reserved may not fall below this. */
const MIN_UNRESERVED = 100

async function problemsInConcurrency(intention: Intention, { warnings }: Findings): Promise<string[]> {
  const { stackName, auditShards, reservedConcurrency: wanted } = intention
  const { limit, unreserved } = await concurrencyOfAccount()
  const former = wanted > 0 ? await reservedBy(`${stackName}-promote-container-file`) : 0
  const left = unreserved + former - wanted
  // An account with a limit below 100 can reserve nothing.
  if (wanted > 0 && left < Math.min(MIN_UNRESERVED, limit)) {
    return [
      `reservedConcurrency is ${wanted}, which leaves ${left} of the account's ${limit} concurrent executions unreserved, and Lambda keeps ${Math.min(MIN_UNRESERVED, limit)}: leave it out, or raise Lambda's quota "Concurrent executions"`,
    ]
  }
  const advice = adviceOnShards(left, auditShards)
  if (advice !== undefined) warnings.push(advice)
  return []
}

async function reservedBy(FunctionName: string): Promise<number> {
  try {
    const command = new GetFunctionConcurrencyCommand({ FunctionName })
    return (await new LambdaClient({}).send(command)).ReservedConcurrentExecutions ?? 0
  } catch (error) {
    if (error instanceof LambdaNotFound) return 0
    throw error
  }
}

async function problemsInTables(intention: Intention, resources: StackResource[]): Promise<string[]> {
  const client = new DynamoDBClient({})
  const isOfStack = (name: string) => resources.some(({ physicalId }) => physicalId === name)
  const problems: string[] = []
  for (const { parameter, name } of intention.newTables) {
    if (isOfStack(name) || !(await describe(name, client))) continue
    problems.push(
      `table ${name} is there already, and not of this stack: keep using it with ${parameter}=${name}, or delete it`,
    )
  }
  for (const { parameter, name, indexes } of intention.existingTables) {
    const table = await describe(name, client)
    if (!table) {
      problems.push(`${parameter} is "${name}": there is no such table`)
      continue
    }
    const present = (table.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName)
    for (const index of indexes.filter((each) => !present.includes(each))) {
      problems.push(`${parameter} is "${name}": it has no index ${index}, add it as in infra/resources/tables.yml`)
    }
  }
  return problems
}

async function describe(TableName: string, client: DynamoDBClient): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined
    throw error
  }
}

const isDenied = (error: unknown) => error instanceof Error && /^AccessDenied|^UnauthorizedOperation/.test(error.name)
