import { textOf } from './intrinsics.ts'
import type { Resource } from './packages.ts'

export interface StackPlace {
  stackName: string
  account: string
  region: string
  /** Characters that CloudFormation adds to the names that it makes: 12, or 13 by older resource types. */
  randomLength?: number
}

/** A stack with its resources. */
export interface Named extends StackPlace {
  resources: Readonly<Record<string, Resource>>
}

/** The types that CloudFormation names in this stack, and how long the names may be. */
const GENERATED: Record<string, number> = {
  'AWS::CodeDeploy::Application': 100,
  'AWS::CodeDeploy::DeploymentGroup': 100,
  'AWS::Events::Rule': 64,
  'AWS::IAM::Role': 64,
  'AWS::S3::Bucket': 63,
  'AWS::SQS::Queue': 80,
}
const NAMES =
  'FunctionName TableName LogGroupName AlarmName DashboardName TopicName StateMachineName BucketName DomainName Name'.split(
    ' ',
  )

/** The name that a resource will have. */
export function nameOf(id: string, stack: Named): string {
  const { Type = '', Properties } = stack.resources[id] ?? {}
  const given = NAMES.flatMap((name) => (Properties?.[name] === undefined ? [] : [Properties[name]]))[0]
  if (given !== undefined) return textOf(given, { 'AWS::Region': stack.region })
  const maxLength = GENERATED[Type]
  if (maxLength === undefined) throw new Error(`how ${Type} is named is not known here`)
  const { randomLength = 12 } = stack
  const name = physicalNamePrefix(stack.stackName, id, maxLength, randomLength) + 'x'.repeat(randomLength)
  return Type === 'AWS::S3::Bucket' ? name.toLowerCase() : name
}

/**
 * How CloudFormation begins the name of a resource that the template does not name: STACK-ID-, before some twelve
 * random characters. Where that is too long, both are cut, each to its fair share (IdentifierUtils of AWS's
 * cloudformation-cli-java-plugin; older resource types add thirteen characters). S3 has it in lower case.
 */
export function physicalNamePrefix(stackName: string, logicalId: string, maxLength: number, randomLength = 12): string {
  const free = maxLength - randomLength - 2
  const half = Math.floor(free / 2)
  const [ofStack, ofId] = [stackName.length, logicalId.length]
  const stackLength = Math.min(ofStack, Math.max(free - half, free - ofId))
  return `${stackName.slice(0, stackLength)}-${logicalId.slice(0, free - stackLength)}-`
}
