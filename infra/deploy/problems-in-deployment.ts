import { ConfigurationError, readConfig } from '../../lib/config.ts'
import type { Settings } from './account-rules.ts'
import { PATTERNS } from './patterns.ts'
import { allowedWords, SETTINGS, type Setting } from './settings.ts'
import { environmentOf, problemsInStage } from './variables.ts'

export interface Deployment {
  stage: string
  region: string
  /** Every parameter with its value for this stage. */
  settings: Readonly<Record<string, unknown>>
  /** --param options, as they were given: `name=value`. */
  given: readonly string[]
  /** Names of the parameters that are written for this stage, in settings/<stage>.yml above all. */
  written: readonly string[]
}

const LOCAL = '--stage is local, which is what npm start serves on this machine: deploy another one'
const REGIONAL = ['certificateArn', 'webAclArn', 'alarmTopicArn', 'ticketTopicArn']

/** @returns sentences that each name a parameter, its value and what is allowed; none when all is well */
export function problemsInDeployment({ stage, region, settings: raw, ...names }: Deployment): string[] {
  const settings: Settings = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value ?? '')]))
  return [
    ...(stage === 'local' ? [LOCAL] : problemsInStage(stage)),
    ...unknownParameters(stage, names),
    ...Object.entries(SETTINGS).flatMap(([name, setting]) => problemsInSetting(name, settings[name] ?? '', setting)),
    ...problemsInEnvironment(settings),
    ...problemsInCombination(settings, region),
    ...problemsInSandboxes(settings, names),
  ]
}

function unknownParameters(stage: string, { given, written }: Pick<Deployment, 'given' | 'written'>): string[] {
  const isUnknown = (name: string) => !Object.hasOwn(SETTINGS, name)
  const known = Object.keys(SETTINGS).join(', ')
  const ofCommand = given.map((text) => text.split('=', 1)[0] ?? '').filter(isUnknown)
  return [
    ...ofCommand.map((name) => `--param ${name}: there is no such parameter, only ${known}`),
    ...written.filter(isUnknown).map((name) => `${name} of settings/${stage}.yml: there is no such parameter`),
  ]
}

function problemsInSetting(name: string, value: string, setting: Setting): string[] {
  if (value === '' && (setting.default === undefined || setting.variable)) return []
  return isAllowed(value, setting)
    ? []
    : [`${name} is "${value}", allowed: ${allowedWords(setting).replaceAll('`', '')}`]
}

function isAllowed(value: string, { kind, min, max, default: byDefault, variable }: Setting): boolean {
  if (kind !== undefined) return PATTERNS[kind]?.test(value) ?? false
  // What the functions would refuse at start is reported in their words.
  if (variable !== undefined) return true
  if (min === undefined || max === undefined) return typeof byDefault !== 'boolean' || /^(true|false)$/.test(value)
  return /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max
}

/** What the functions would refuse at start, in terms of the parameters. */
function problemsInEnvironment(settings: Settings): string[] {
  const names = new Map(Object.entries(SETTINGS).map(([name, { variable }]) => [variable, name]))
  const inParameters = (problem: string) =>
    problem.replace(/\b[A-Z0-9]+(?:_[A-Z0-9]+)+\b/g, (variable) => {
      const name = names.get(variable)
      if (name === undefined) return variable
      return problem.includes('not "') ? name : `${name} "${settings[name]}"`
    })
  try {
    // Any name will do for a bucket that is yet to be created.
    readConfig(environmentOf('stack', (name) => settings[name] || (name.endsWith('Bucket') ? name : '')))
    return []
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.problems.map(inParameters)
  }
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

function problemsInSandboxes(settings: Settings, { given, written }: Pick<Deployment, 'given' | 'written'>): string[] {
  const { sandboxBucket, sandboxWriters, sandboxKeyTemplate } = settings
  const isSet = (name: string) => written.includes(name) || given.some((text) => text.startsWith(`${name}=`))
  const ofCreated = ['sandboxDays', 'sandboxVersions'].filter((name) => sandboxBucket && isSet(name))
  const otherwise = `leave it out, and set up ${sandboxBucket} where that is managed`
  const problems = ofCreated.map((name) => `${name} is for a bucket that the stack creates: ${otherwise}`)
  if (!sandboxWriters || !sandboxKeyTemplate?.includes('*')) return problems
  const why = 'with sandboxWriters it may have no "*", by which a right to one container would reach others'
  return [...problems, `sandboxKeyTemplate is "${sandboxKeyTemplate}": ${why}`]
}

/** With deletion protection, somebody must receive every alarm. */
function unheardAlarms(settings: Settings): string[] {
  const { deletionProtection, alarmEmail, alarmTopicArn, ticketEmail, ticketTopicArn } = settings
  if (deletionProtection !== 'true') return []
  const why = '(deletionProtection=true makes a stage a productive one)'
  if (!alarmEmail && !alarmTopicArn) return [`nobody gets the alarms: give alarmEmail or alarmTopicArn ${why}`]
  if (alarmEmail || ticketEmail || ticketTopicArn) return []
  return [
    `nobody gets the alarms that wait for the morning: give ticketEmail or ticketTopicArn, which may be the topic of alarmTopicArn ${why}`,
  ]
}
