import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { PERMISSIONS } from '../../../lib/auth/caller.ts'
import { createApiKeyAdministration } from '../../../lib/aws/api-key-administration.ts'
import type { Config } from '../../../lib/config.ts'
import { auditKeys, explainKeyFinding, type KeyFinding } from '../../../lib/maintenance/audit-keys.ts'
import { advice, type Check, setupCheck } from './check.ts'

/** How many keys are named. */
const MAX_NAMED = 5

/** Whether every permission of the keys is a known one. */
export function keyPermissionsCheck({ keysTable: tableName }: Config, client: DynamoDBClient): Check {
  return setupCheck('permissions of the API keys', 'dynamodb:Scan', async (signal) => {
    const found: KeyFinding[] = []
    const apiKeys = createApiKeyAdministration({ client, tableName })
    const options = { onFinding: (finding: KeyFinding) => void found.push(finding) }
    const { keys, powerless } = await auditKeys(options, { apiKeys }, signal)
    if (found.length === 0) return `${keys} keys, ${powerless} of them without any; known: ${PERMISSIONS.join(', ')}`
    const named = found.slice(0, MAX_NAMED).map(explainKeyFinding)
    const more = found.length > MAX_NAMED ? [`and ${found.length - MAX_NAMED} more`] : []
    return advice(`${[...named, ...more].join('; ')}: set what was meant with "keys change --permission"`)
  })
}
