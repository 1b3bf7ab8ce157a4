import { ConfigurationError, readConfig } from '../../lib/config.ts'
import { SETTING_RULES, type SettingRule } from './setting-rules.ts'

/** What the plugin knows before it packages. */
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
const REGIONAL = ['certificateArn', 'webAclArn', 'alarmTopicArn']

/** @returns sentences that each name a parameter, its value and what is allowed; none when all is well */
export function faultsInDeployment({ stage, region, settings: raw, environment, ...names }: Deployment): string[] {
  const settings: Settings = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value ?? '')]))
  return [
    ...faultsInStage(stage),
    ...unknownParameters(stage, names),
    ...Object.entries(SETTING_RULES).flatMap(([name, rule]) => faultsInSetting(name, settings[name] ?? '', rule)),
    ...faultsInEnvironment(environment, settings),
    ...faultsInCombination(settings, region),
  ]
}

function faultsInStage(stage: string): string[] {
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

function faultsInSetting(name: string, value: string, rule: SettingRule): string[] {
  if (value === '' && (rule.isOptional || rule.environment)) return []
  const allowed = whatIsAllowed(value, rule)
  return allowed === undefined ? [] : [`${name} is "${value}": allowed is ${allowed}`]
}

/** @returns undefined when the value is */
function whatIsAllowed(value: string, { pattern, allowed, integer, oneOf }: SettingRule): string | undefined {
  if (pattern && !pattern.test(value)) return allowed
  if (oneOf && !oneOf.includes(value)) return oneOf.join(', ')
  if (!integer) return undefined
  const { min, max } = integer
  const isWithin = /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max
  return isWithin ? undefined : `an integer from ${min} to ${max}`
}

/** What the functions would refuse at start, in the words of the parameters. */
function faultsInEnvironment(environment: Deployment['environment'], settings: Settings): string[] {
  const names = new Map(Object.entries(SETTING_RULES).map(([name, rule]) => [rule.environment, name]))
  const withBucketNames = Object.entries(environment).map(([name, value]) => [
    name,
    typeof value === 'object' ? bucketName(name, value) : String(value),
  ])
  const inParameters = (fault: string) =>
    fault.replace(/\b[A-Z0-9]+(?:_[A-Z0-9]+)+\b/g, (variable) => {
      const name = names.get(variable)
      if (name === undefined) return variable
      return fault.includes('not "') ? name : `${name} "${settings[name]}"`
    })
  try {
    readConfig(Object.fromEntries(withBucketNames))
    return []
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.faults.map(inParameters)
  }
}

/** Fn::If [condition, a bucket of the stack, the name of a bucket that exists] */
function bucketName(variable: string, value: unknown): string {
  const [, , broughtAlong] = (value as { 'Fn::If'?: [string, object, string] })['Fn::If'] ?? []
  return broughtAlong || variable.toLowerCase()
}

function faultsInCombination(settings: Settings, region: string): string[] {
  const faults: string[] = []
  const { customDomainName, certificateArn, documentKeyTemplate = '' } = settings
  if (customDomainName && !certificateArn)
    faults.push('certificateArn is missing: customDomainName needs a certificate')
  for (const name of ['certificateArn', 'hostedZoneId']) {
    if (settings[name] && !customDomainName)
      faults.push(`customDomainName is missing: ${name} is for a custom domain only`)
  }
  for (const name of REGIONAL) {
    const value = settings[name]
    const [, , , itsRegion] = value?.split(':') ?? []
    if (itsRegion && itsRegion !== region)
      faults.push(`${name} is "${value}": allowed is one in ${region}, where the stack is`)
  }
  if (settings.deletionProtection === 'true' && !hasReceiver(settings)) {
    faults.push(
      'nobody gets the alarms: give alarmEmail or alarmTopicArn, or say alarmsWithoutReceiver=true (deletionProtection=true makes a stage a productive one)',
    )
  }
  const beforeFirstId = documentKeyTemplate.split('{')[0] ?? ''
  if (beforeFirstId !== '' && !beforeFirstId.endsWith('/')) {
    faults.push(
      `documentKeyTemplate is "${documentKeyTemplate}": what comes before the first placeholder must end in "/"`,
    )
  }
  return faults
}

function hasReceiver({ alarmEmail, alarmTopicArn, alarmsWithoutReceiver }: Settings): boolean {
  return Boolean(alarmEmail || alarmTopicArn) || alarmsWithoutReceiver === 'true'
}
