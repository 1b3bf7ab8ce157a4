import { ConfigurationError, readConfig } from '../../lib/config.ts'
import type { Settings } from './account-rules.ts'
import { PATTERNS } from './patterns.ts'
import { allowedWords, SETTINGS, type Setting } from './settings.ts'
import { environmentOf } from './variables.ts'

export interface Deployment {
  stage: string
  region: string
  /** Every parameter with its value for this stage. */
  settings: Readonly<Record<string, unknown>>
  /** Names of the parameters that --param gives, or that are written for this stage, in settings/<stage>.yml above all. */
  given: readonly string[]
}

const LOCAL = '--stage is local, which is what npm start serves on this machine: deploy another one'
const REGIONAL = /^(certificate|webAcl|alarmTopic|ticketTopic|documentsStream|tablesKmsKey)Arn$/

/** @returns sentences that each name a parameter, its value and what is allowed; none when all is well */
export function problemsInDeployment({ stage, region, settings: raw, given }: Deployment): string[] {
  const settings: Settings = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value ?? '')]))
  const unknown = given.filter((name) => !Object.hasOwn(SETTINGS, name))
  const known = Object.keys(SETTINGS).join(', ')
  return [
    ...(stage === 'local' ? [LOCAL] : []),
    ...unknown.map((name) => `${name}: there is no such parameter (--param, settings/${stage}.yml), only ${known}`),
    ...Object.keys(SETTINGS).flatMap((name) => problemsInSetting(name, settings[name] ?? '', region)),
    ...problemsInEnvironment(settings),
    ...problemsInCombination(settings, given),
  ]
}

function problemsInSetting(name: string, value: string, region: string): string[] {
  const setting = SETTINGS[name] as Setting
  if (value === '' && (setting.default === undefined || setting.variable)) return []
  if (!isAllowed(value, setting))
    return [`${name} is "${value}", allowed: ${allowedWords(setting).replaceAll('`', '')}`]
  const [, , , itsRegion] = value.split(':')
  if (!REGIONAL.test(name) || !itsRegion || itsRegion === region) return []
  return [`${name} is "${value}": allowed is one in ${region}, where the stack is`]
}

function isAllowed(value: string, { kind, min, max, default: byDefault, variable }: Setting): boolean {
  if (kind !== undefined) return PATTERNS[kind]?.test(value) ?? false
  // Problems that the functions would have at start are reported in their words.
  if (variable !== undefined) return true
  if (min === undefined || max === undefined) return typeof byDefault !== 'boolean' || /^(true|false)$/.test(value)
  return /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max
}

/** The settings that the functions would refuse at start, in terms of the parameters. */
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

function* problemsInCombination(settings: Settings, given: readonly string[]): Generator<string> {
  const { customDomainName, certificateArn, hostedZoneId, sandboxBucket, sandboxKeyTemplate } = settings
  const { documentsTable, documentsStreamArn } = settings
  const { documentKeyTemplate = '', alarmEmail, alarmTopicArn, ticketEmail, ticketTopicArn } = settings
  if (customDomainName && !certificateArn) yield 'certificateArn is missing: customDomainName needs a certificate'
  if (certificateArn && !customDomainName)
    yield 'customDomainName is missing: certificateArn is for a custom domain only'
  if (hostedZoneId && !customDomainName) yield 'customDomainName is missing: hostedZoneId is for a custom domain only'
  if (settings.disableExecuteApiEndpoint === 'true' && !customDomainName)
    yield 'customDomainName is missing: with disableExecuteApiEndpoint=true the API would have no address'
  if (settings.sandboxAccountId && !sandboxBucket)
    yield 'sandboxBucket is missing: sandboxAccountId is the account of a bucket that exists'
  const setUpElsewhere = `leave it out, and set up ${sandboxBucket} where that is managed`
  for (const name of ['sandboxDays', 'sandboxVersions'])
    if (sandboxBucket && given.includes(name)) yield `${name} is for a bucket that the stack creates: ${setUpElsewhere}`
  if (settings.sandboxWriters && sandboxKeyTemplate?.includes('*'))
    yield `sandboxKeyTemplate is "${sandboxKeyTemplate}": with sandboxWriters it may have no "*", by which a right to one container would reach others`
  if (!/^$|\/$/.test(documentKeyTemplate.replace(/\{.*/s, '')))
    yield `documentKeyTemplate is "${documentKeyTemplate}": what comes before the first placeholder must end in "/"`
  if (settings.eventBus && documentsTable && !documentsStreamArn)
    yield `documentsStreamArn is missing: eventBus reads the stream of ${documentsTable}`
  if (documentsStreamArn && !documentsStreamArn.includes(`:table/${documentsTable}/stream/`))
    yield `documentsStreamArn is "${documentsStreamArn}": allowed is the stream of documentsTable`
  // Somebody must receive every alarm there.
  if (settings.deletionProtection !== 'true') return
  const why = '(deletionProtection=true makes a stage a productive one)'
  if (!alarmEmail && !alarmTopicArn) yield `nobody gets the alarms: give alarmEmail or alarmTopicArn ${why}`
  if (alarmTopicArn && !alarmEmail && !ticketEmail && !ticketTopicArn)
    yield `nobody gets the alarms that wait for the morning: give ticketEmail or ticketTopicArn, which may be the topic of alarmTopicArn ${why}`
}
