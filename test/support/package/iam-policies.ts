import type { Access } from './iam-accesses.ts'

export interface Statement {
  Sid: string
  Effect: 'Allow' | 'Deny'
  actions: string[]
  /** As Access.resource, with wildcards; null for statements on all resources. */
  resources: string[]
  condition: Record<string, Record<string, string | string[]>>
}

/** Whether IAM would allow the access: some statement allows it, none denies it (IAM user guide, evaluation logic). */
export function isAllowed(statements: readonly Statement[], access: Access): boolean {
  const applying = statements.filter((statement) => applies(statement, access))
  return applying.length > 0 && applying.every(({ Effect }) => Effect === 'Allow')
}

export function applies({ actions, resources, condition }: Statement, access: Access): boolean {
  return (
    actions.some((action) => action.toLowerCase() === access.action.toLowerCase()) &&
    resources.some((pattern) => isLike(pattern, access.resource)) &&
    Object.entries(condition).every(([operator, keys]) => holds(operator, keys, access.context ?? {}))
  )
}

function holds(operator: string, keys: Record<string, string | string[]>, context: Record<string, string>): boolean {
  if (operator !== 'StringLike') throw new Error(`the condition operator ${operator} is not known here`)
  return Object.entries(keys).every(([key, patterns]) => {
    const value = context[key]
    return value !== undefined && [patterns].flat().some((pattern) => isLike(pattern, value))
  })
}

/** `*` stands for any characters, `?` for one (IAM user guide, StringLike). */
function isLike(pattern: string, value: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 's').test(value)
}
