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
const BOOLEAN = { oneOf: ['true', 'false'] } as const
/** S3 user guide, "General purpose bucket naming rules". */
const BUCKET: Pick<SettingRule, 'pattern' | 'allowed' | 'isOptional'> = {
  pattern:
    /^(?!xn--|sthree-|\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)(?!.*(-s3alias|--ol-s3|--x-s3)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  allowed: 'the name of a bucket (3 to 63 of a-z, 0-9, "-" and "."), not its ARN',
  isOptional: true,
}
/** Amazon DynamoDB developer guide, "Naming rules". */
const TABLE: SettingRule = {
  pattern: /^[A-Za-z0-9_.-]{3,255}$/,
  allowed: 'the name of a table (3 to 255 of a-z, A-Z, 0-9, "_", "-" and "."), not its ARN',
  isOptional: true,
}
const arn = (service: string, resource: string, allowed: string): SettingRule => ({
  pattern: new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]+:\\d{12}:${resource}$`),
  allowed,
  isOptional: true,
})
const KMS_KEY = arn('kms', 'key/[A-Za-z0-9-]+', 'the ARN of a KMS key (arn:aws:kms:…:key/…), not of an alias')
const TOPIC = arn('sns', '[A-Za-z0-9_-]{1,256}', 'the ARN of a standard SNS topic (arn:aws:sns:…)')
const EMAIL: SettingRule = { pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/, allowed: 'an e-mail address', isOptional: true }

export const SETTING_RULES: Readonly<Record<string, SettingRule>> = {
  sandboxBucket: { environment: 'SANDBOX_BUCKET', ...BUCKET },
  sandboxKeyTemplate: { environment: 'SANDBOX_KEY_TEMPLATE' },
  sandboxKmsKeyArn: KMS_KEY,
  documentsBucket: { environment: 'DOCUMENTS_BUCKET', ...BUCKET },
  documentKeyTemplate: { environment: 'DOCUMENT_KEY_TEMPLATE' },
  documentsKmsKeyArn: KMS_KEY,
  deletedDocumentDays: { integer: { min: 1, max: 3650 } },
  keysTable: TABLE,
  workspacesTable: TABLE,
  reservationsTable: TABLE,
  documentsTable: TABLE,
  rateLimitsTable: TABLE,
  maxFileBytes: { environment: 'MAX_FILE_BYTES' },
  defaultQuotaBytes: { environment: 'DEFAULT_QUOTA_BYTES' },
  rateLimitPerMinute: { environment: 'RATE_LIMIT_PER_MINUTE' },
  rateLimitBurst: { environment: 'RATE_LIMIT_BURST' },
  leaseMs: { environment: 'LEASE_MS' },
  multipartThresholdBytes: { environment: 'MULTIPART_THRESHOLD_BYTES' },
  minPartBytes: { environment: 'MIN_PART_BYTES' },
  downloadUrlSeconds: { environment: 'DOWNLOAD_URL_SECONDS' },
  s3ForcePathStyle: { environment: 'S3_FORCE_PATH_STYLE' },
  auditRoundHours: { environment: 'AUDIT_ROUND_HOURS' },
  auditShards: { environment: 'AUDIT_SHARDS' },
  auditReadsPerSecond: { environment: 'AUDIT_READS_PER_SECOND' },
  throttleRatePerSecond: { integer: { min: 1, max: 100_000 } },
  throttleBurst: { integer: { min: 1, max: 100_000 } },
  customDomainName: {
    pattern: /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
    allowed: 'a host name in lower case, without https:// and path',
    isOptional: true,
  },
  certificateArn: arn('acm', 'certificate/[0-9a-f-]+', 'the ARN of an ACM certificate (arn:aws:acm:…:certificate/…)'),
  hostedZoneId: { pattern: /^Z[A-Z0-9]{1,31}$/, allowed: 'the id of a Route 53 hosted zone (Z…)', isOptional: true },
  webAclArn: arn(
    'wafv2',
    'regional/webacl/[^/]+/[0-9a-f-]+',
    'the ARN of a regional web ACL (arn:aws:wafv2:…:regional/webacl/…)',
  ),
  corsAllowedOrigins: { environment: 'CORS_ALLOWED_ORIGINS', isOptional: true },
  createGatewayLogRole: BOOLEAN,
  deletionProtection: BOOLEAN,
  deploymentPreference: { oneOf: DEPLOYMENT_PREFERENCES },
  reservedConcurrency: { integer: { min: 1, max: 100_000 }, isOptional: true },
  logRetentionDays: { oneOf: RETENTION_DAYS },
  operationsKmsKeyArn: KMS_KEY,
  tags: {
    pattern: /^[\w.:/@+ -]{1,128}=[\w.:/@+ -]{0,256}(,[\w.:/@+ -]{1,128}=[\w.:/@+ -]{0,256})*$/,
    allowed: 'tags as name=value, with a comma between two',
    isOptional: true,
  },
  rolePath: {
    pattern: /^\/([\w+=,.@-]+\/)*$/,
    allowed: 'the path of a role, beginning and ending in "/"',
    isOptional: true,
  },
  permissionsBoundaryArn: {
    pattern: /^arn:aws[a-z-]*:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/,
    allowed: 'the ARN of an IAM policy (arn:aws:iam::…:policy/…)',
    isOptional: true,
  },
  alarmTopicArn: TOPIC,
  alarmEmail: EMAIL,
  ticketTopicArn: TOPIC,
  ticketEmail: EMAIL,
  alarmsWithoutReceiver: BOOLEAN,
  alarmServerErrorPercent: { integer: { min: 1, max: 100 } },
  alarmLatencyMs: { integer: { min: 100, max: 29_000 } },
  alarmOldestReservationMs: { integer: { min: 60_000, max: 86_400_000 } },
}
