import { read } from '../../pages/pages.ts'
import { readStatement, type Statement, type WrittenStatement } from './iam-policies.ts'
import { EXISTING } from './packages.ts'

export const ACCOUNT = '111122223333'

/** A team writes these in the place of the placeholders (docs/deploy.md, "Rights"). */
export const PLACEHOLDERS: Readonly<Record<string, string>> = {
  ACCOUNT,
  STAGE: 'prod',
  REST_API: 'a1b2c3d4e5',
  DOMAIN: EXISTING.customDomainName,
  HOSTED_ZONE: EXISTING.hostedZoneId,
  WEB_ACL_ARN: EXISTING.webAclArn,
  TOPIC_ARN: EXISTING.ticketTopicArn,
  SANDBOX_BUCKET: 'local-sandboxes',
  DOCUMENTS_BUCKET: 'local-documents',
  KMS_KEY_ARN: EXISTING.sandboxKmsKeyArn,
  TABLES_KEY_ARN: EXISTING.tablesKmsKeyArn,
}

export const textOfPolicy = (name: string) => read(`docs/policies/${name}.json`)

/** The statements of some of docs/policies, as they are once the placeholders are filled in. */
export function statementsOfPolicies(
  names: readonly string[],
  placeholders: Readonly<Record<string, string>> = PLACEHOLDERS,
): Statement[] {
  return names.flatMap((name) => {
    const text = textOfPolicy(name).replace(/\b[A-Z]+(?:_[A-Z]+)*\b/g, (word) => placeholders[word] ?? word)
    return (JSON.parse(text) as { Statement: WrittenStatement[] }).Statement.map((written) => readStatement(written))
  })
}
