import { loadSharedConfigFiles } from '@smithy/core/config'
import { VARIABLES, variableOf } from '../../lib/config.ts'
import { dashboardOf } from './dashboard.ts'
import * as written from './functions.ts'
import { readOwnSettings, SETTINGS, type Setting, STAGES } from './settings.ts'

/** The framework hands this to a function of ${file(…)}. */
export interface Framework {
  options: { stage?: string; region?: string; param?: string | string[]; 'aws-profile'?: string }
  resolveVariable(name: string): Promise<unknown>
}

const stageOf = ({ options }: Framework) => options.stage ?? 'dev'

/** `params` of serverless.yml; --param still comes before all of it. */
export function parameters(framework: Framework) {
  return orRefuse(() => {
    const stage = stageOf(framework)
    // The longest function name, `{service}-{stage}-promote-container-file`, must fit into Lambda's 64 characters.
    if (!/^[a-z0-9](?:[a-z0-9-]{0,14}[a-z0-9])?$/.test(stage))
      throw new Error(`--stage is "${stage}": allowed are 1 to 16 of a-z, 0-9 and, inside, "-"`)
    const { region, ...own } = readOwnSettings(stage)
    const texts = Object.entries(own).map(([name, value]) => [name, String(value ?? '')])
    const defaults = defaultParameters()
    return { ...defaults, [stage]: { ...defaults[stage], ...Object.fromEntries(texts) } }
  })
}

/** The parameters without a team's own values. One without a default is empty. */
export function defaultParameters(): Record<string, Record<string, string>> {
  const ofStages = STAGES.map((stage) => [stage, mapSettings((setting) => setting[stage])])
  return { default: mapSettings((setting) => String(setting.default ?? '')), ...Object.fromEntries(ofStages) }
}

/** `functions`, and their part of `resources`. */
export const functions = async (framework: Framework) => written.functions(await functionsAskedFor(framework))
export const functionResources = async (framework: Framework) =>
  written.functionResources(await functionsAskedFor(framework))
export const dashboard = async (framework: Framework) => dashboardOf(await functionsAskedFor(framework))

const functionsAskedFor = async (framework: Framework) =>
  written.functionsFor(written.isSetIn(await valuesIn(framework)))

/** Each setting's value for the stage. */
async function valuesIn({ resolveVariable }: Framework): Promise<Record<string, unknown>> {
  const resolved = Object.keys(SETTINGS).map(async (name) => [name, await resolveVariable(`param:${name}`)])
  return Object.fromEntries(await Promise.all(resolved))
}

/** `custom.settings`: each setting with the value it has for the stage. */
export const values = () => mapSettings((_, name) => `\${param:${name}}`)

/** `provider.environment`. */
export async function environment(framework: Framework): Promise<Record<string, string>> {
  const values = await valuesIn(framework)
  return environmentOf(`\${self:service}-\${sls:stage}`, (name) =>
    // A bucket has a name even if none was given.
    /^(sandbox|documents)Bucket$/.test(name) ? `\${self:custom.${name}Name}` : String(values[name] ?? ''),
  )
}

/** Without S3_FORCE_PATH_STYLE, which is for servers that are not AWS's. @param readParameter gives '' for a table that is to be created */
export function environmentOf(stack: string, readParameter: (name: string) => string): Record<string, string> {
  const read = (name: string) => {
    if (name === 'serviceName') return stack
    // rateLimitsTable → …-rate-limits
    const ownTable = name.replace(/Table$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return readParameter(name) || (name.endsWith('Table') ? `${stack}-${ownTable}` : '')
  }
  const names = Object.keys(VARIABLES).filter((name) => name !== 's3ForcePathStyle')
  return Object.fromEntries(names.map((name) => [variableOf(name), read(name)]))
}

/** Commands that ask nothing of AWS, so any region will do. */
const WITHOUT_AWS = new Set(['package', 'print', 'offline'])

/** In this order. A command that reaches AWS needs one: a made-up region would create a second stack, or remove nothing. */
export function region(framework: Framework): Promise<string> {
  const { options } = framework
  const stage = stageOf(framework)
  return orRefuse(async () => {
    const own = readOwnSettings(stage).region
    const { AWS_REGION, AWS_DEFAULT_REGION } = process.env
    const found = options.region || own || AWS_REGION || AWS_DEFAULT_REGION || (await regionOfProfile(options))
    if (own && found !== own)
      throw new Error(`--region is ${found}, but settings/${stage}.yml says ${own}: one stage is in one region`)
    if (found) return String(found)
    if (process.argv.slice(2).some((word) => WITHOUT_AWS.has(word))) {
      console.error('No region is set, and this needs none: us-east-1 stands for any.')
      return 'us-east-1'
    }
    throw new Error(`no region: write "region: eu-west-1" into settings/${stage}.yml, or say --region`)
  })
}

async function regionOfProfile(options: Framework['options']): Promise<string | undefined> {
  const { AWS_PROFILE, AWS_DEFAULT_PROFILE } = process.env
  const { configFile } = await loadSharedConfigFiles({ ignoreCache: true })
  return configFile[options['aws-profile'] || AWS_PROFILE || AWS_DEFAULT_PROFILE || 'default']?.region
}

function mapSettings<Value>(read: (setting: Setting, name: string) => Value | undefined): Record<string, Value> {
  const entries = Object.entries(SETTINGS).map(([name, setting]) => [name, read(setting, name)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** Exits on a failure: the framework would repeat the same sentence for every variable of serverless.yml. */
async function orRefuse<Value>(read: () => Value): Promise<Awaited<Value>> {
  try {
    return await read()
  } catch (error) {
    console.error(`\nError:\nThis cannot be deployed (docs/settings.md):\n- ${(error as Error).message}`)
    return process.exit(1)
  }
}
