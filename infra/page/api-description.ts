import { readFile } from 'node:fs/promises'
import { parseDocument, stringify } from 'yaml'

interface Parameter {
  name: string
  example?: unknown
}

interface ApiDescription {
  servers: { url: string; description?: string }[]
  paths: Record<string, Record<string, { parameters?: Parameter[] }>>
}

/** What the page has of docs/openapi.yaml, for one address. */
export interface PageDescription {
  yaml: string
  json: string
}

/**
 * @param options.baseUrl the only server of the description; omitted: those of the file
 * @param options.examples of parameters, by name, instead of those of the file; undefined removes one
 */
export async function describeApi(options: {
  file: string
  baseUrl: string | undefined
  examples?: Readonly<Record<string, string | undefined>>
}): Promise<PageDescription> {
  const description: ApiDescription = parseDocument(await readFile(options.file, 'utf8'), { merge: true }).toJS()
  if (options.baseUrl !== undefined) description.servers = [{ url: options.baseUrl }]
  const parameters = Object.values(description.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => operation.parameters ?? [])
  for (const parameter of parameters) {
    const { examples = {} } = options
    // Ids of one name may be of two kinds: the new example must be of the kind of the old one.
    if (!(parameter.name in examples) || kindOf(parameter.example) !== kindOf(examples[parameter.name])) continue
    if (examples[parameter.name] === undefined) delete parameter.example
    else parameter.example = examples[parameter.name]
  }
  return { yaml: stringify(description, { aliasDuplicateObjects: false }), json: JSON.stringify(description, null, 2) }
}

function kindOf(example: unknown): string | undefined {
  return /^(cfile|file)_/.exec(String(example))?.[1]
}
