import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import mime from 'mime'
import { parseDocument, stringify } from 'yaml'
import { HEADERS_OF_PROMOTION } from '../../../lib/http/headers.ts'
import type { DemoFileContent } from '../stores/demo-file.ts'

const ASSETS = join(import.meta.dirname, 'assets')
const DESCRIPTION = join(import.meta.dirname, '../../../docs/openapi.yaml')
const { version } = createRequire(import.meta.url)('../../../package.json')
const RENDERER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

interface ApiDescription {
  servers: { url: string; description?: string }[]
  paths: Record<string, Record<string, { parameters?: { name: string; example?: unknown }[] }>>
}

/** Each click is a promotion of its own, of whatever the file has become. */
const WITHOUT = Object.fromEntries(HEADERS_OF_PROMOTION.map((name) => [name, undefined]))

/** The files of both pages, with the demonstration filled in: nothing comes from another host. */
export async function pageFiles({ base_url, s3_endpoint, container_id, files: [first] }: DemoFileContent) {
  const files = new Map<string, { contentType: string; body: Buffer }>()
  const add = (name: string, body: Buffer | string) => {
    files.set(name, { contentType: mime.getType(name) ?? 'application/octet-stream', body: Buffer.from(body) })
  }
  /** Of parameters, by name. */
  const examples: Record<string, string | undefined> = { ...WITHOUT, container_id, file_id: first?.file_id }
  const origins = `${new URL(base_url).origin} ${new URL(s3_endpoint).origin}`
  for (const name of await readdir(ASSETS)) {
    const text = await readFile(join(ASSETS, name), 'utf8')
    add(name, text.replaceAll('{connect_to}', origins).replaceAll('{version}', version))
  }
  const ofRenderer = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt']
  for (const name of ofRenderer) add(name, await readFile(join(RENDERER, name)))
  const description: ApiDescription = parseDocument(await readFile(DESCRIPTION, 'utf8'), { merge: true }).toJS()
  description.servers = [{ url: base_url }]
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods))
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const { name, example } = parameter
    // Ids of one name may be of two kinds: an example is replaced only by one of its kind. JSON leaves out undefined.
    if (name in examples && kindOf(example) === kindOf(examples[name])) parameter.example = examples[name]
  }
  add('openapi.yaml', stringify(description, { aliasDuplicateObjects: false }))
  add('openapi.json', JSON.stringify(description, null, 2))
  return files
}

const kindOf = (example: unknown): string | undefined => /^(cfile|file)_/.exec(String(example))?.[1]
