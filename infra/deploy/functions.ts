import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { OPERATIONS, PUBLIC_OPERATIONS } from '../../lib/http/operations.ts'
import { isObject, rewrite, type Template } from './template.ts'

const RESOURCES = join(import.meta.dirname, '../resources')
const read = (file: string) => readFileSync(join(RESOURCES, file), 'utf8')

/** A file of infra/resources/functions, named after the function's file in functions/. */
export interface FunctionEntry {
  name: string
  description: string
  /** The routes of its operations (lib/http/operations.ts); empty for functions that no request invokes. */
  routes: { method: string; resource: string }[]
  /** Its callers have API keys. */
  hasCallers: boolean
  /** Without a value for this setting, nothing of the function is there. */
  setting?: string
  /** Further properties, for the framework. */
  function?: Partial<Pick<WrittenFunction, 'timeout' | 'events'>> & { environment?: object }
  /** Statements of its role, in addition to those of all roles. */
  statements: object[]
}

type Operation = { route: string; function: string; for?: string; setting?: string }
/** What a setting adds to a function. */
type Addition = { environment: object; statements: object[] }
type File = Omit<FunctionEntry, 'name' | 'routes' | 'hasCallers'> & { with?: Record<string, Addition> }

const OF_ALL: readonly Operation[] = [...Object.values(OPERATIONS), ...Object.values(PUBLIC_OPERATIONS)]
const ALL = globSync('functions/*.yml', { cwd: RESOURCES })
  .sort()
  .map((file) => ({ name: basename(file, '.yml'), ...(parse(read(file)) as File) }))

/** The functions of a stage, with the routes, variables and rights that its settings ask for. */
export function functionsFor(isSet: (setting: string) => boolean): FunctionEntry[] {
  const isWanted = ({ setting }: { setting?: string }) => setting === undefined || isSet(setting)
  return ALL.filter(isWanted).map(({ with: additions = {}, ...entry }) => {
    const operations = OF_ALL.filter((operation) => operation.function === entry.name && isWanted(operation))
    const added = Object.entries(additions).flatMap(([setting, addition]) => (isSet(setting) ? [addition] : []))
    const environment = Object.assign({}, entry.function?.environment, ...added.map((each) => each.environment))
    return {
      ...entry,
      function: { ...entry.function, ...(Object.keys(environment).length > 0 && { environment }) },
      statements: [...added.flatMap((each) => each.statements), ...entry.statements],
      routes: operations.map(({ route }) => {
        const [method = '', resource = ''] = route.split(' ')
        return { method, resource }
      }),
      hasCallers: operations.some((operation) => 'for' in operation),
    }
  })
}

/** A setting that is false, or has no value, asks for nothing. */
export const isSetIn = (settings: Readonly<Record<string, unknown>>) => (name: string) =>
  !['', 'false', 'undefined'].includes(String(settings[name]))

export const hasRoutes = ({ routes }: FunctionEntry) => routes.length > 0
/** All that a stage may have. */
export const FUNCTIONS = functionsFor(() => true)
export const API_FUNCTIONS = FUNCTIONS.filter(hasRoutes)

/** The function's key in serverless.yml: `readDocuments`. */
export const keyOf = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** How the names of its resources in the template begin: `ReadDocuments`. */
export const logicalIdOf = (name: string) => keyOf(`-${name}`)

/** Only these functions have versions, for shifting traffic. The timeout is one second less than the gateway waits. */
const BEHIND_GATEWAY = { memorySize: 1024, timeout: 28 }
const BY_ITSELF = { versionFunction: false }

type Event = { http?: object; schedule?: { rate: string; input: unknown } }
/** As in serverless.yml: its handler is its module without the extension, and its export; its timeout is in seconds. */
export type WrittenFunction = { name: string; handler: string; timeout: number; events: Event[] }

/** `functions` of serverless.yml. @param all those that the settings ask for */
export function functions(all = FUNCTIONS): Record<string, WrittenFunction> {
  const written = all.map(({ name, description, routes, function: more }) => {
    const common = {
      ...{ name: `\${self:service}-\${sls:stage}-${name}`, description, handler: `dist/${name}.handler` },
      package: { patterns: [`dist/${name}.mjs`, `dist/chunks/${name}/**`] },
      role: `${logicalIdOf(name)}Role`,
    }
    const events = routes.map(({ method, resource }) => ({
      http: { method: method.toLowerCase(), path: resource.slice(1) },
    }))
    return [keyOf(name), { ...common, ...(events.length > 0 ? { ...BEHIND_GATEWAY, events } : BY_ITSELF), ...more }]
  })
  return Object.fromEntries(written)
}

/** The statements are for the function's role. */
type Pattern = { statements?: object[]; Resources: Template['Resources']; extensions?: object; Outputs?: object }

/** An element of serverless.yml's `resources`: the functions' roles, log groups and outputs, and some aliases. */
export function functionResources(all = FUNCTIONS) {
  const each = all.map(({ name, routes, hasCallers, statements }) => {
    const common: Pattern = fill(parse(read('per-function.yml')), name)
    const api: Pattern = routes.length > 0 ? fill(parse(read('per-api-function.yml')), name) : { Resources: {} }
    const [policy] = common.Resources[`${logicalIdOf(name)}Role`]?.Properties.Policies ?? []
    policy.PolicyDocument.Statement.push(...((hasCallers && api.statements) || []), ...statements)
    return { ...common, Resources: { ...common.Resources, ...api.Resources } }
  })
  const merge = (section: 'Resources' | 'extensions' | 'Outputs') =>
    Object.assign({}, ...each.map((part) => part[section]))
  return { Resources: merge('Resources'), extensions: merge('extensions'), Outputs: merge('Outputs') }
}

const FOR_EACH = 'ForEachApiFunction'

/** Expands the list elements `{ ForEachApiFunction: … }` of a template. */
export function expandLists<Value>(value: Value, all = FUNCTIONS): Value {
  const expand = (element: unknown) =>
    isObject(element) && FOR_EACH in element
      ? all.filter(hasRoutes).map(({ name }) => fill(element[FOR_EACH], name))
      : [element]
  const expandAll = (inner: unknown) => (Array.isArray(inner) ? inner.flatMap(expand) : inner)
  return rewrite(value, (object) =>
    Object.fromEntries(Object.entries(object).map(([name, inner]) => [name, expandAll(inner)])),
  ) as Value
}

/** The pattern with its placeholders filled in, those in the names of its properties, too. */
const fill = <Value>(pattern: Value, slug: string): Value =>
  JSON.parse(JSON.stringify(pattern).replaceAll('{Function}', logicalIdOf(slug)).replaceAll('{slug}', slug))
