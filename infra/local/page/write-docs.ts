import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { pageFiles } from './page-files.ts'

const ROOT = join(import.meta.dirname, '../../..')

const command = new Command('npm run docs --')
  .description('Writes the API reference as static files, to be put on any host.')
  .option('--base-url <url>', 'of your deployment, with /v1: where the page sends requests to', parseBaseUrl)
  .option('--out <directory>', 'where to', join(ROOT, 'site'))
  .parse()
const { baseUrl, out } = command.opts<{ baseUrl?: string; out: string }>()

const files = await pageFiles({ baseUrl })
// The demonstration stays here, and so does the link to it.
const reference = `${files.get('reference.html')?.body}`.replace(/.*id="home".*\n/, '')
files.set('index.html', { contentType: 'text/html', body: Buffer.from(reference) })
for (const name of ['reference.html', 'demo.js', 'sent.js']) files.delete(name)
await mkdir(out, { recursive: true })
for (const [name, { body }] of files) await writeFile(join(out, name), body)
console.log(`${files.size} files are in ${relative(process.cwd(), out) || '.'}: put them on any host.`)
if (baseUrl !== undefined)
  console.error(`To send requests from it, its origin must be one of corsAllowedOrigins (docs/settings.md).`)

function parseBaseUrl(text: string): string {
  if (/^https?:$/.test(`${URL.parse(text)?.protocol}`)) return text.replace(/\/$/, '')
  throw new InvalidArgumentError('it must be an http or https address')
}
