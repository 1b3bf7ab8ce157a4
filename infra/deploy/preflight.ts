import { APIGatewayClient, GetAccountCommand } from '@aws-sdk/client-api-gateway'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetFunctionConcurrencyCommand, LambdaClient, ResourceNotFoundException } from '@aws-sdk/client-lambda'
import { describe } from '../admin/restore/restore-tables.ts'
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

/** Lambda developer guide, "Reserved concurrency": so much stays for functions without; an account with less can reserve none. */
const MIN_UNRESERVED = 100

async function problemsInConcurrency(intention: Intention, { warnings }: Findings): Promise<string[]> {
  const { stackName, auditShards, reservedConcurrency: wanted } = intention
  const { limit, unreserved } = await concurrencyOfAccount()
  const left = unreserved - wanted + (wanted > 0 ? await reservedBy(`${stackName}-promote-container-file`) : 0)
  const least = Math.min(MIN_UNRESERVED, limit)
  if (wanted === 0 || left >= least) warnings.push(...adviceOnShards(left, auditShards))
  else
    return [
      `reservedConcurrency is ${wanted}, which leaves ${left} of the account's ${limit} concurrent executions unreserved, and Lambda keeps ${least}: leave it out, or raise Lambda's quota "Concurrent executions"`,
    ]
  return []
}

async function reservedBy(FunctionName: string): Promise<number> {
  try {
    const command = new GetFunctionConcurrencyCommand({ FunctionName })
    return (await new LambdaClient({}).send(command)).ReservedConcurrentExecutions ?? 0
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return 0
    throw error
  }
}

const TABLES_TIMEOUT_MS = 60_000

async function problemsInTables(intention: Intention, resources: StackResource[]): Promise<string[]> {
  const client = new DynamoDBClient({})
  const signal = AbortSignal.timeout(TABLES_TIMEOUT_MS)
  const isOfStack = (name: string) => resources.some(({ physicalId }) => physicalId === name)
  const problems: string[] = []
  for (const { parameter, name } of intention.newTables) {
    if (isOfStack(name) || !(await describe(name, client, signal))) continue
    problems.push(
      `table ${name} is there already, and not of this stack: keep using it with ${parameter}=${name}, or delete it`,
    )
  }
  for (const { parameter, name, indexes } of intention.existingTables) {
    const table = await describe(name, client, signal)
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

const isDenied = (error: unknown) => error instanceof Error && /^AccessDenied|^UnauthorizedOperation/.test(error.name)
