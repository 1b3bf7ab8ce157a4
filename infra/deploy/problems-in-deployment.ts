import { ConfigurationError, readConfig } from '../../lib/config.ts'
import { SETTING_RULES, type SettingRule } from './setting-rules.ts'

/** What is known before packaging. */
export interface Deployment {
  stage: string
  region: string
  /** Every parameter with its value for this stage. */
  settings: Readonly<Record<string, unknown>>
  /** The functions' environment; the name of a bucket that will be created is an object. */
  environment: Readonly<Record<string, unknown>>
  /** --param options, as they were given: `name=value`. */
  given: readonly string[]
  /** Names of the parameters that are written for this stage, in settings/<stage>.yml above all. */
  written: readonly string[]
}

type Settings = Readonly<Record<string, string>>

/** So that the longest name of a function, `{service}-{stage}-promote-container-file`, fits into the 64 characters of Lambda. */
const STAGE = /^[a-z0-9](?:[a-z0-9-]{0,14}[a-z0-9])?$/
const REGIONAL = ['certificateArn', 'webAclArn', 'alarmTopicArn', 'ticketTopicArn']

/** @returns sentences that each name a parameter, its value and what is allowed; none when all is well */
export function problemsInDeployment({ stage, region, settings: raw, environment, ...names }: Deployment): string[] {
  const settings: Settings = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value ?? '')]))
  return [
    ...problemsInStage(stage),
    ...unknownParameters(stage, names),
    ...Object.entries(SETTING_RULES).flatMap(([name, rule]) => problemsInSetting(name, settings[name] ?? '', rule)),
    ...problemsInEnvironment(environment, settings),
    ...problemsInCombination(settings, region),
  ]
}

function problemsInStage(stage: string): string[] {
  if (stage === 'local') return ['--stage is local, which is what npm start serves on this machine: deploy another one']
  return STAGE.test(stage) ? [] : [`--stage is "${stage}": allowed are 1 to 16 of a-z, 0-9 and, inside, "-"`]
}

function unknownParameters(stage: string, { given, written }: Pick<Deployment, 'given' | 'written'>): string[] {
  const isUnknown = (name: string) => !Object.hasOwn(SETTING_RULES, name)
  const known = Object.keys(SETTING_RULES).join(', ')
  const ofCommand = given.map((text) => text.split('=', 1)[0] ?? '').filter(isUnknown)
  return [
    ...ofCommand.map((name) => `--param ${name}: there is no such parameter, only ${known}`),
    ...written.filter(isUnknown).map((name) => `${name} of settings/${stage}.yml: there is no such parameter`),
  ]
}

function problemsInSetting(name: string, value: string, rule: SettingRule): string[] {
  if (value === '' && (rule.isOptional || rule.environment)) return []
  const allowed = whatIsAllowed(value, rule)
  return allowed === undefined ? [] : [`${name} is "${value}": allowed is ${allowed}`]
}

/** @returns what is allowed instead of the value; undefined when it is fine */
function whatIsAllowed(value: string, { pattern, allowed, integer, oneOf }: SettingRule): string | undefined {
  if (pattern && !pattern.test(value)) return allowed
  if (oneOf && !oneOf.includes(value)) return oneOf.join(', ')
  if (!integer) return undefined
  const { min, max } = integer
  const isWithin = /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max
  return isWithin ? undefined : `an integer from ${min} to ${max}`
}

/** What the functions would refuse at start, in terms of the parameters. */
function problemsInEnvironment(environment: Deployment['environment'], settings: Settings): string[] {
  const names = new Map(Object.entries(SETTING_RULES).map(([name, rule]) => [rule.environment, name]))
  const withBucketNames = Object.entries(environment).map(([name, value]) => [
    name,
    typeof value === 'object' ? bucketName(name, value) : String(value),
  ])
  const inParameters = (problem: string) =>
    problem.replace(/\b[A-Z0-9]+(?:_[A-Z0-9]+)+\b/g, (variable) => {
      const name = names.get(variable)
      if (name === undefined) return variable
      return problem.includes('not "') ? name : `${name} "${settings[name]}"`
    })
  try {
    readConfig(Object.fromEntries(withBucketNames))
    return []
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.problems.map(inParameters)
  }
}

/** Fn::If [condition, a bucket of the stack, the name of a bucket that exists] */
function bucketName(variable: string, value: unknown): string {
  const [, , existing] = (value as { 'Fn::If'?: [string, object, string] })['Fn::If'] ?? []
  return existing || variable.toLowerCase()
}

function problemsInCombination(settings: Settings, region: string): string[] {
  const problems: string[] = []
  const { customDomainName, certificateArn, documentKeyTemplate = '' } = settings
  if (customDomainName && !certificateArn)
    problems.push('certificateArn is missing: customDomainName needs a certificate')
  for (const name of ['certificateArn', 'hostedZoneId']) {
    if (settings[name] && !customDomainName)
      problems.push(`customDomainName is missing: ${name} is for a custom domain only`)
  }
  if (settings.disableExecuteApiEndpoint === 'true' && !customDomainName)
    problems.push('customDomainName is missing: with disableExecuteApiEndpoint=true the API would have no address')
  if (settings.sandboxAccountId && !settings.sandboxBucket)
    problems.push('sandboxBucket is missing: sandboxAccountId is the account of a bucket that exists')
  for (const name of REGIONAL) {
    const value = settings[name]
    const [, , , itsRegion] = value?.split(':') ?? []
    if (itsRegion && itsRegion !== region)
      problems.push(`${name} is "${value}": allowed is one in ${region}, where the stack is`)
  }
  problems.push(...unheardAlarms(settings))
  const beforeFirstId = documentKeyTemplate.split('{')[0] ?? ''
  if (beforeFirstId !== '' && !beforeFirstId.endsWith('/')) {
    problems.push(
      `documentKeyTemplate is "${documentKeyTemplate}": what comes before the first placeholder must end in "/"`,
    )
  }
  return problems
}

/** With deletion protection, somebody must receive every alarm, unless the settings say that nobody does. */
function unheardAlarms(settings: Settings): string[] {
  const { deletionProtection, alarmsWithoutReceiver, alarmEmail, alarmTopicArn, ticketEmail, ticketTopicArn } = settings
  if (deletionProtection !== 'true' || alarmsWithoutReceiver === 'true') return []
  const otherwise = 'or say alarmsWithoutReceiver=true (deletionProtection=true makes a stage a productive one)'
  if (!alarmEmail && !alarmTopicArn) return [`nobody gets the alarms: give alarmEmail or alarmTopicArn, ${otherwise}`]
  if (alarmEmail || ticketEmail || ticketTopicArn) return []
  return [
    `nobody gets the alarms that wait for the morning: give ticketEmail or ticketTopicArn, which may be the topic of alarmTopicArn, ${otherwise}`,
  ]
}
