import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'
import { parse } from 'yaml'
import { VARIABLES } from '../../lib/config.ts'
import { type FunctionEntry, functions, functionsFor, isSetIn, type WrittenFunction } from './functions.ts'
import { readOwnSettings } from './settings.ts'
import { ofType } from './template.ts'
import { defaultParameters, environmentOf } from './variables.ts'

/** A resource begins with a slash, and has its parameters in braces; a function has its name as deployed. */
export type Route = FunctionEntry['routes'][number] & { functionName: string }

export interface DeclaredTable extends CreateTableCommandInput {
  TableName: string
  TimeToLiveSpecification?: { AttributeName: string }
  PointInTimeRecoverySpecification?: object
}

export type FunctionDefinition = ReturnType<typeof toDefinition>
/** The stage `local` of serverless.yml: the one source of names, tables and gateway answers. */
export type ServiceDefinition = ReturnType<typeof readServiceDefinition>

const STAGE = 'local'
const STACK = `${VARIABLES.serviceName.default}-${STAGE}`

/** Reads it without the framework, whose `print` would take seconds; a test compares the two. */
export function readServiceDefinition() {
  const defaults = defaultParameters()
  const params: Record<string, unknown> = { ...defaults.default, ...defaults[STAGE], ...readOwnSettings(STAGE) }
  const ofStage = environmentOf(STACK, (name) =>
    // `${env:NAME, 'default'}`
    String(params[name] ?? '').replace(/^\$\{env:(\w+), '(.*)'\}$/, (_, variable, or) => process.env[variable] ?? or),
  )
  const S3_FORCE_PATH_STYLE = process.env.S3_FORCE_PATH_STYLE ?? 'false'
  const environment: Record<string, string> = { ...ofStage, S3_FORCE_PATH_STYLE }
  const entries = functionsFor(isSetIn(params))
  const routes = entries.flatMap(({ name, routes }) =>
    routes.map((route): Route => ({ ...route, functionName: `${STACK}-${name}` })),
  )
  const tables = readTables(environment)
  return { environment, functions: Object.values(functions(entries)).map(toDefinition), tables, routes }
}

/** The function with its name as deployed. */
function toDefinition({ name, handler, timeout, events }: WrittenFunction) {
  const schedules = events.flatMap(({ schedule }) =>
    schedule ? { everyMs: intervalMs(schedule.rate), input: schedule.input } : [],
  )
  const ofStage = name.replace(/^\$\{self:service\}-\$\{sls:stage\}/, STACK)
  return { name: ofStage, handler, timeoutMs: 1000 * timeout, schedules }
}

function intervalMs(rate: string): number {
  const [, minutes] = /^rate\((\d+) minutes?\)$/.exec(rate) ?? []
  if (minutes === undefined) throw new Error(`npm start knows no schedule ${rate}, only minutes`)
  return 60_000 * Number(minutes)
}

/** The tables of infra/resources/tables.yml. @param environment has their names */
export function readTables(environment: Readonly<Record<string, string | undefined>>): DeclaredTable[] {
  const text = readFileSync(join(import.meta.dirname, '../resources/tables.yml'), 'utf8')
  const named = text.replace(/\$\{self:provider\.environment\.(\w+)\}/g, (_, variable) => environment[variable] ?? '')
  const filled = named.replace(/\$\{param:\w+\}/g, '')
  return ofType(parse(filled), 'AWS::DynamoDB::Table').map(([, { Properties }]) => Properties as DeclaredTable)
}
