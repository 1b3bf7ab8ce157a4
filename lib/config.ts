import { type ObjectKeyTemplates, problemsInTemplates } from './object-keys.ts'
import type { RateLimitPolicy } from './rate-limit.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
/** Step Functions passes on all shards' answers together, in at most 256 KB. */
export const MAX_SHARDS = 200
const ORIGIN = /^https?:\/\/([a-z0-9-]+\.)*[a-z0-9-]+(:\d{1,5})?$/

export interface Config {
  /** Distinguishes the stages of an account in logs and metrics. */
  serviceName: string
  keysTable: string
  workspacesTable: string
  reservationsTable: string
  documentsTable: string
  rateLimitsTable: string
  sandboxBucket: string
  documentsBucket: string
  keyTemplates: ObjectKeyTemplates
  maxFileBytes: number
  defaultQuotaBytes: number
  leaseMs: number
  rateLimit: RateLimitPolicy
  multipartThresholdBytes: number
  minPartBytes: number
  /** How long a download URL works. */
  downloadUrlSeconds: number
  s3ForcePathStyle: boolean
  audit: {
    /** The time in which a round goes through all workspaces. */
    roundHours: number
    /** How many parts of a round run in parallel. */
    shards: number
    /** For a whole round: DynamoDB's read units, and one for each request to S3. */
    readsPerSecond: number
  }
  /** The origins whose pages may read the API's answers. */
  corsAllowedOrigins: readonly string[]
}

export class ConfigurationError extends Error {
  /** One sentence each, naming the variable. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n- ${problems.join('\n- ')}`)
    this.problems = problems
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * docs/settings.md lists the variables; the SDK reads AWS's own (AWS_REGION, AWS_ENDPOINT_URL_S3, …).
 * @throws ConfigurationError naming all problems at once
 */
export function readConfig(env: Environment): Config {
  const problems: string[] = []
  const read = createReader(env, problems)
  const config: Config = {
    serviceName: read.text('SERVICE_NAME', 'container-file-promotion'),
    keysTable: read.text('KEYS_TABLE'),
    workspacesTable: read.text('WORKSPACES_TABLE'),
    reservationsTable: read.text('RESERVATIONS_TABLE'),
    documentsTable: read.text('DOCUMENTS_TABLE'),
    rateLimitsTable: read.text('RATE_LIMITS_TABLE'),
    sandboxBucket: read.text('SANDBOX_BUCKET'),
    documentsBucket: read.text('DOCUMENTS_BUCKET'),
    keyTemplates: {
      sandbox: read.text('SANDBOX_KEY_TEMPLATE', 'sandboxes/{workspace_id}/{container_id}/{path}'),
      document: read.text('DOCUMENT_KEY_TEMPLATE', 'documents/{workspace_id}/{document_id}/{attempt_id}'),
    },
    maxFileBytes: read.integer('MAX_FILE_BYTES', { default: 5 * GIB, min: 0, max: 50 * 1024 * GIB }),
    defaultQuotaBytes: read.integer('DEFAULT_QUOTA_BYTES', { default: 10 * GIB, min: 0, max: Number.MAX_SAFE_INTEGER }),
    // At least twice the 29 s that a request can last.
    leaseMs: read.integer('LEASE_MS', { default: 120_000, min: 60_000, max: 3_600_000 }),
    rateLimit: {
      requestsPerMinute: read.integer('RATE_LIMIT_PER_MINUTE', { default: 600, min: 1, max: 60_000 }),
      burst: read.integer('RATE_LIMIT_BURST', { default: 100, min: 1, max: 10_000 }),
    },
    multipartThresholdBytes: read.integer('MULTIPART_THRESHOLD_BYTES', {
      default: 64 * MIB,
      min: 5 * MIB,
      max: 5 * GIB,
    }),
    minPartBytes: read.integer('MIN_PART_BYTES', { default: 32 * MIB, min: 5 * MIB, max: GIB }),
    downloadUrlSeconds: read.integer('DOWNLOAD_URL_SECONDS', { default: 120, min: 60, max: 300 }),
    s3ForcePathStyle: read.boolean('S3_FORCE_PATH_STYLE', false),
    audit: {
      roundHours: read.integer('AUDIT_ROUND_HOURS', { default: 24, min: 2, max: 72 }),
      shards: read.integer('AUDIT_SHARDS', { default: 8, min: 1, max: MAX_SHARDS }),
      readsPerSecond: read.integer('AUDIT_READS_PER_SECOND', { default: 2000, min: 200, max: 1_000_000 }),
    },
    corsAllowedOrigins: read.origins('CORS_ALLOWED_ORIGINS'),
  }
  const templateProblems = problemsInTemplates(config.keyTemplates, config.sandboxBucket === config.documentsBucket)
  problems.push(...templateProblems.map((problem) => `SANDBOX_KEY_TEMPLATE, DOCUMENT_KEY_TEMPLATE: ${problem}`))
  if (problems.length > 0) throw new ConfigurationError(problems)
  return config
}

/** Reads typed values from the environment. Problems are collected, not thrown, so that all can be named together. */
function createReader(env: Environment, problems: string[]) {
  const raw = (name: string, isRequired: boolean): string | undefined => {
    const value = env[name]
    if (value === undefined && isRequired) problems.push(`${name} is not set`)
    if (value?.trim() === '') problems.push(`${name} is empty`)
    return value
  }
  return {
    text: (name: string, fallback?: string) => raw(name, fallback === undefined) ?? fallback ?? '',
    integer(name: string, bounds: { default: number; min: number; max: number }) {
      const value = raw(name, false)
      if (value === undefined) return bounds.default
      const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
      if (!(number >= bounds.min && number <= bounds.max)) {
        problems.push(`${name} must be an integer from ${bounds.min} to ${bounds.max}, not "${value}"`)
      }
      return number
    },
    boolean(name: string, fallback: boolean) {
      const value = raw(name, false)
      if (value === undefined) return fallback
      if (value !== 'true' && value !== 'false') problems.push(`${name} must be true or false, not "${value}"`)
      return value === 'true'
    },
    /** Empty: none. */
    origins(name: string): readonly string[] {
      const origins = (env[name] ?? '').split(',').map((origin) => origin.trim())
      const all = origins.filter((origin) => origin !== '')
      for (const origin of all) {
        if (!isOrigin(origin)) {
          problems.push(
            `${name} must be origins such as https://app.example.com with commas between them, not "${origin}"`,
          )
        }
      }
      return all
    },
  }
}

/** As browsers send it: lower case, no path, no default port. */
function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && URL.parse(text)?.origin === text
}
