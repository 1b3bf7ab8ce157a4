import { SETTINGS, type Setting } from './settings.cjs'

/** What one parameter may be. */
export interface SettingRule {
  /** The environment variable it becomes; lib/config.ts checks that one. */
  environment?: string
  /** Checked here, with the sentence that says what is allowed. */
  pattern?: RegExp
  allowed?: string
  integer?: { min: number; max: number }
  oneOf?: readonly string[]
  isOptional?: true
}

const DEPLOYMENT_PREFERENCES = [
  'AllAtOnce',
  ...[5, 10, 15, 30].map((minutes) => `Canary10Percent${minutes}Minutes`),
  'Linear10PercentEvery1Minute',
  ...[2, 3, 10].map((minutes) => `Linear10PercentEvery${minutes}Minutes`),
]
/** CloudWatch Logs, PutRetentionPolicy. */
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
].map(String)
/** S3 user guide, "General purpose bucket naming rules". */
const BUCKET: SettingRule = {
  pattern:
    /^(?!xn--|sthree-|\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)(?!.*(-s3alias|--ol-s3|--x-s3)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  allowed: 'the name of a bucket (3 to 63 of a-z, 0-9, "-" and "."), not its ARN',
}
/** Amazon DynamoDB developer guide, "Naming rules". */
const TABLE: SettingRule = {
  pattern: /^[A-Za-z0-9_.-]{3,255}$/,
  allowed: 'the name of a table (3 to 255 of a-z, A-Z, 0-9, "_", "-" and "."), not its ARN',
}
const arn = (service: string, resource: string, allowed: string): SettingRule => ({
  pattern: new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]+:\\d{12}:${resource}$`),
  allowed,
})
const KMS_KEY = arn('kms', 'key/[A-Za-z0-9-]+', 'the ARN of a KMS key (arn:aws:kms:…:key/…), not of an alias')
const TOPIC = arn('sns', '[A-Za-z0-9_-]{1,256}', 'the ARN of a standard SNS topic (arn:aws:sns:…)')
const EMAIL: SettingRule = { pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/, allowed: 'an e-mail address' }

/** The kinds of infra/resources/settings.yml. */
const KINDS: Readonly<Record<string, SettingRule>> = {
  bucket: BUCKET,
  table: TABLE,
  kmsKey: KMS_KEY,
  topic: TOPIC,
  email: EMAIL,
  account: { pattern: /^\d{12}$/, allowed: 'the number of an AWS account (12 digits)' },
  hostName: {
    pattern: /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
    allowed: 'a host name in lower case, without https:// and path',
  },
  certificate: arn('acm', 'certificate/[0-9a-f-]+', 'the ARN of an ACM certificate (arn:aws:acm:…:certificate/…)'),
  hostedZone: { pattern: /^Z[A-Z0-9]{1,31}$/, allowed: 'the id of a Route 53 hosted zone (Z…)' },
  webAcl: arn(
    'wafv2',
    'regional/webacl/[^/]+/[0-9a-f-]+',
    'the ARN of a regional web ACL (arn:aws:wafv2:…:regional/webacl/…)',
  ),
  deploymentPreference: { oneOf: DEPLOYMENT_PREFERENCES },
  retentionDays: { oneOf: RETENTION_DAYS },
  tags: {
    pattern: /^[\w.:/@+ -]{1,128}=[\w.:/@+ -]{0,256}(,[\w.:/@+ -]{1,128}=[\w.:/@+ -]{0,256})*$/,
    allowed: 'tags as name=value, with a comma between two',
  },
  rolePath: { pattern: /^\/([\w+=,.@-]+\/)*$/, allowed: 'the path of a role, beginning and ending in "/"' },
  policy: {
    pattern: /^arn:aws[a-z-]*:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/,
    allowed: 'the ARN of an IAM policy (arn:aws:iam::…:policy/…)',
  },
}

export const SETTING_RULES: Readonly<Record<string, SettingRule>> = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, setting]) => [name, ruleOf(name, setting)]),
)

function ruleOf(name: string, setting: Setting): SettingRule {
  const { variable, kind, integer, isBoolean } = setting
  const ofKind = kind === undefined ? {} : KINDS[kind]
  if (ofKind === undefined) throw new Error(`infra/resources/settings.yml: ${name} is of no known kind, "${kind}"`)
  const isOptional = setting.default === undefined && { isOptional: true as const }
  if (variable !== undefined) return { environment: variable, ...ofKind, ...isOptional }
  return { ...ofKind, ...(integer && { integer }), ...(isBoolean && { oneOf: ['true', 'false'] }), ...isOptional }
}
