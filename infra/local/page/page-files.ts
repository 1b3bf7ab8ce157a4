import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import mime from 'mime'
import type { PageDescription } from './api-description.ts'

const ASSETS = join(import.meta.dirname, 'assets')
const RENDERER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

/**
 * The files of both pages: nothing comes from another host.
 * @param options.connectTo origins that they may ask besides their own
 */
export async function pageFiles(options: { description: PageDescription; connectTo: readonly string[] }) {
  const files = new Map<string, { contentType: string; body: Buffer }>()
  const add = (name: string, body: Buffer | string) => {
    files.set(name, { contentType: mime.getType(name) ?? 'application/octet-stream', body: Buffer.from(body) })
  }
  for (const name of await readdir(ASSETS)) {
    const text = await readFile(join(ASSETS, name), 'utf8')
    add(name, text.replaceAll('{connect_to}', options.connectTo.join(' ')))
  }
  const ofRenderer = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'favicon-32x32.png']
  for (const name of ofRenderer) add(name, await readFile(join(RENDERER, name)))
  add('openapi.yaml', options.description.yaml)
  add('openapi.json', options.description.json)
  return files
}
