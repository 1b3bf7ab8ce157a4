import { readFile } from 'node:fs/promises'
import { parseDocument, stringify } from 'yaml'

interface ApiDescription {
  servers: { url: string; description?: string }[]
  paths: Record<string, Record<string, { parameters?: { name: string; example?: unknown }[] }>>
}

export type PageDescription = Awaited<ReturnType<typeof describeApi>>

/** @param options.baseUrl instead of the servers of the file @param options.examples of parameters, by name */
export async function describeApi(options: {
  file: string
  baseUrl: string | undefined
  examples?: Readonly<Record<string, string | undefined>>
}) {
  const { file, baseUrl, examples = {} } = options
  const description: ApiDescription = parseDocument(await readFile(file, 'utf8'), { merge: true }).toJS()
  if (baseUrl !== undefined) description.servers = [{ url: baseUrl }]
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods))
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const { name, example } = parameter
    // Ids of one name may be of two kinds: an example is replaced only by one of its kind. JSON leaves out undefined.
    if (name in examples && kindOf(example) === kindOf(examples[name])) parameter.example = examples[name]
  }
  return { yaml: stringify(description, { aliasDuplicateObjects: false }), json: JSON.stringify(description, null, 2) }
}

function kindOf(example: unknown): string | undefined {
  return /^(cfile|file)_/.exec(String(example))?.[1]
}
