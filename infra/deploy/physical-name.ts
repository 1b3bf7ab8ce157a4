/** IAM API reference, CreateRole. */
export const ROLE_NAME_LENGTH = 64

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
