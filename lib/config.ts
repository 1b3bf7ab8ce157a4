import { type ObjectKeyTemplates, problemsInTemplates } from './object-keys.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
/** Step Functions passes on all shards' answers together, in at most 256 KB. */
export const MAX_SHARDS = 200
/** How long what a process has begun is left to it: at least twice the 29 s that a request can last. */
const LEASE_MS = 120_000
/** The audit's read units, and requests to S3: a sixth of what one partition of a table can be read. */
export const READS_PER_SECOND_OF_SHARD = 500
const ORIGIN = /^https?:\/\/([a-z0-9-]+\.)*[a-z0-9-]+(:\d{1,5})?$/

/** A variable: the type of its default is the type of its value, and without a default it is required. */
export type Variable = { default?: string } | { default: boolean } | { default: number; min: number; max: number }

/**
 * All that the functions read from their environment, each from the variable of its name: maxFileBytes from
 * MAX_FILE_BYTES. infra/resources/settings.yml says what they mean, and has their defaults and bounds from here.
 */
export const VARIABLES = {
  /** Distinguishes the stages of an account in logs and metrics. */
  serviceName: { default: 'container-file-promotion' },
  keysTable: {},
  workspacesTable: {},
  documentsTable: {},
  rateLimitsTable: {},
  sandboxBucket: {},
  documentsBucket: {},
  sandboxKeyTemplate: { default: 'sandboxes/{workspace_id}/{container_id}/{path}' },
  documentKeyTemplate: { default: 'documents/{workspace_id}/{document_id}/{attempt_id}' },
  maxFileBytes: { default: 5 * GIB, min: 0, max: 50 * 1024 * GIB },
  defaultQuotaBytes: { default: 10 * GIB, min: 0, max: Number.MAX_SAFE_INTEGER },
  /** One item counts all of a workspace: 30,000 a minute are half of the writes it can take. */
  rateLimitPerMinute: { default: 600, min: 1, max: 30_000 },
  multipartThresholdBytes: { default: 64 * MIB, min: 5 * MIB, max: 5 * GIB },
  s3ForcePathStyle: { default: false },
  auditRoundHours: { default: 24, min: 2, max: 72 },
  auditShards: { default: 8, min: 1, max: MAX_SHARDS },
  corsAllowedOrigins: { default: '' },
} as const satisfies Record<string, Variable>

type ValuesOf<Rules> = { [Name in keyof Rules]: ValueOf<Rules[Name]> }
type Values = ValuesOf<typeof VARIABLES>
type ValueOf<Rule> = Rule extends { default: number } ? number : Rule extends { default: boolean } ? boolean : string

/**
 * GCRA (the generic cell rate algorithm): `burst` requests at once, and one more every `60 000 / requestsPerMinute` ms.
 * Its only state is a time, the theoretical arrival time (TAT): when the next request would be due, had all come evenly.
 * The TAT of one that has been quiet is in the past.
 */
export interface RateLimitPolicy {
  requestsPerMinute: number
  burst: number
}

export interface Config extends Omit<Values, 'corsAllowedOrigins'> {
  leaseMs: number
  keyTemplates: ObjectKeyTemplates
  rateLimit: RateLimitPolicy
  corsAllowedOrigins: readonly string[]
}

export const MOST_REQUESTS_PER_MINUTE = VARIABLES.rateLimitPerMinute.max

/** The limit of a platform key without one of its own: it serves all tenants. */
export const PLATFORM_REQUESTS_PER_MINUTE = 6000

/** All requests of ten seconds may come at once. */
export function rateLimitOf(requestsPerMinute: number): RateLimitPolicy {
  return { requestsPerMinute, burst: Math.ceil(requestsPerMinute / 6) }
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

export const variableOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/** docs/settings.md lists the variables. @throws ConfigurationError naming all problems at once */
export function readConfig(env: Environment): Config {
  const problems: string[] = []
  const values = valuesIn(env, VARIABLES, problems)
  const config: Config = {
    ...values,
    keyTemplates: { sandbox: values.sandboxKeyTemplate, document: values.documentKeyTemplate },
    leaseMs: LEASE_MS,
    rateLimit: rateLimitOf(values.rateLimitPerMinute),
    corsAllowedOrigins: originsIn(values.corsAllowedOrigins),
  }
  for (const origin of config.corsAllowedOrigins.filter((each) => !isOrigin(each))) {
    const wanted = 'origins such as https://app.example.com with commas between them'
    problems.push(`CORS_ALLOWED_ORIGINS must be ${wanted}, not "${origin}"`)
  }
  for (const problem of problemsInTemplates(config.keyTemplates, config.sandboxBucket === config.documentsBucket))
    problems.push(`SANDBOX_KEY_TEMPLATE, DOCUMENT_KEY_TEMPLATE: ${problem}`)
  if (problems.length > 0) throw new ConfigurationError(problems)
  return config
}

/** What only one function has in its environment. @throws ConfigurationError */
export function readVariables<Rules extends Record<string, Variable>>(env: Environment, rules: Rules): ValuesOf<Rules> {
  const problems: string[] = []
  const values = valuesIn(env, rules, problems)
  if (problems.length > 0) throw new ConfigurationError(problems)
  return values
}

function valuesIn<Rules extends Record<string, Variable>>(env: Environment, rules: Rules, problems: string[]) {
  const read = ([name, rule]: [string, Variable]) => [name, readVariable(variableOf(name), rule, env, problems)]
  return Object.fromEntries(Object.entries(rules).map(read)) as ValuesOf<Rules>
}

/** Problems are collected, not thrown, so that all can be named together. */
function readVariable(variable: string, rule: Variable, env: Environment, problems: string[]) {
  const text = env[variable]
  if (text === undefined) {
    if (rule.default === undefined) problems.push(`${variable} is not set`)
    return rule.default ?? ''
  }
  if (text.trim() === '' && rule.default !== '') problems.push(`${variable} is empty`)
  if (typeof rule.default === 'boolean') {
    if (text !== 'true' && text !== 'false') problems.push(`${variable} must be true or false, not "${text}"`)
    return text === 'true'
  }
  if (!('min' in rule)) return text
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= rule.min && number <= rule.max))
    problems.push(`${variable} must be an integer from ${rule.min} to ${rule.max}, not "${text}"`)
  return number
}

export function originsIn(text: string): string[] {
  const origins = text.split(',').map((origin) => origin.trim())
  return origins.filter((origin) => origin !== '')
}

/** As browsers send it: lower case, no path, no default port. */
const isOrigin = (text: string): boolean => ORIGIN.test(text) && URL.parse(text)?.origin === text
