import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { LOOPBACK, REFUSAL } from '../../infra/local/loopback.ts'
import { HAS_BROWSER } from '../support/machine/browser.ts'
import { everythingIn } from '../support/machine/contents.ts'
import { useService } from '../support/machine/services.ts'
import { somePage, useBrowser } from '../support/machine/use-page.ts'
import { useServers } from '../support/stores/aws-endpoints.ts'

interface Attempt {
  url: string
  method?: string
  headers?: Record<string, string>
  body?: string
}

const SERVERS = { gateway: 'base_url', s3: 's3_endpoint', dynamodb: 'dynamodb_endpoint' } as const
type Name = keyof typeof SERVERS
const NAMES = Object.keys(SERVERS) as Name[]
/** A name that a foreign site could have its own name server answer with our address. */
const REBOUND = 'evil.test'

const service = useService()
const portOf = (name: Name) => new URL(service().demo[SERVERS[name]]).port

/** What would read or change something if anybody might ask: none of it needs a preflight, but for those with headers. */
function attempts(host: string): Record<string, Attempt> {
  const { demo } = service()
  const at = (name: Name, path: string) => `http://${host}:${portOf(name)}${path}`
  const [file] = demo.files
  const object = `/${demo.sandbox_bucket}/sandboxes/${demo.workspace_id}/${demo.container_id}/${file?.path}`
  const dynamoDb = (operation: string, input: object): Attempt => ({
    url: at('dynamodb', '/'),
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'x-amz-date': '20261122T000000Z',
      authorization: `AWS4-HMAC-SHA256 Credential=local/20261122/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=x`,
    },
    body: JSON.stringify(input),
  })
  return {
    'the keys of the demonstration': { url: at('gateway', '/demo.json') },
    'a promotion': {
      url: at('gateway', `/v1/containers/${demo.container_id}/files/${file?.file_id}/promote`),
      method: 'POST',
      headers: { authorization: `Bearer ${demo.standard_key}` },
    },
    'a list of objects': { url: at('s3', `/${demo.sandbox_bucket}?list-type=2`) },
    'an object': { url: at('s3', object) },
    'an object by a made-up signature': { url: at('s3', `${object}?${madeUpSignature()}`) },
    'a new object': { url: at('s3', `/${demo.sandbox_bucket}/new?${madeUpSignature()}`), method: 'PUT', body: 'x' },
    'a form by a made-up policy': { url: at('s3', `/${demo.sandbox_bucket}`), method: 'POST', ...madeUpForm() },
    'a form from the demonstration': {
      url: at('gateway', '/demo/uploads'),
      method: 'POST',
      body: JSON.stringify({ container_id: demo.container_id, path: 'x', size_bytes: 1 }),
    },
    'a table': dynamoDb('Scan', { TableName: demo.keys_table }),
    'a new key': dynamoDb('PutItem', { TableName: demo.keys_table, Item: { token_hash: { S: 'x'.repeat(64) } } }),
  }
}

/** As a page would send it, who knows the well-known credentials of the stand-ins: they do not check it. */
function madeUpSignature(): string {
  const now = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const signed = `Credential=local/${now.slice(0, 8)}/us-east-1/s3/aws4_request&X-Amz-Date=${now}&X-Amz-Expires=900`
  return `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-${signed}&X-Amz-SignedHeaders=host&X-Amz-Signature=0`
}

function madeUpForm() {
  const conditions = ['bucket', 'key', 'success_action_status', 'x-amz-algorithm', 'x-amz-credential', 'x-amz-date']
  const policy = { expiration: '2099-01-01T00:00:00Z', conditions: conditions.map((name) => ['starts-with', name, '']) }
  const signed = { 'x-amz-algorithm': 'x', 'x-amz-credential': 'x', 'x-amz-date': 'x', 'x-amz-signature': 'x' }
  const fields = {
    key: 'formed',
    success_action_status: '200',
    policy: btoa(JSON.stringify(policy)),
    ...signed,
    file: 'x',
  }
  const parts = Object.entries(fields).map(
    ([name, value]) => `--B\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return { headers: { 'content-type': 'multipart/form-data; boundary=B' }, body: `${parts.join('')}--B--\r\n` }
}

async function expectNothingChangedBy(work: () => Promise<unknown>): Promise<void> {
  const before = await everythingIn(service())
  await work()
  expect(await everythingIn(service())).toEqual(before)
}

/** fetch would not let the test say Host and Sec-Fetch-… */
async function get(name: Name, headers: Record<string, string>) {
  const asked = request({ host: LOOPBACK, port: portOf(name), path: '/', headers: { host: 'localhost', ...headers } })
  const [answer] = (await once(asked.end(), 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

describe.each(NAMES)('the %s, on the wire', (name) => {
  it.each<[what: string, headers: Record<string, string>]>([
    ['another Host', { host: REBOUND }],
    ['another Host with a port', { host: `${REBOUND}:3000` }],
    ['a Host that begins as ours', { host: `localhost.${REBOUND}` }],
    ['an Origin', { origin: `https://${REBOUND}` }],
    ['another port as Origin', { origin: 'http://localhost:1' }],
    ['the Origin null', { origin: 'null' }],
    ['a script of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'script' }],
    ['a frame of another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'iframe' }],
  ])('refuses %s: 403', async (_, headers) => {
    const answer = await get(name, headers)
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining(REFUSAL) })
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  })

  it('lets curl, a library and a link in', async () => {
    const ofLink = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }
    for (const headers of [{ host: '127.0.0.1:1' }, { host: 'LOCALHOST' }, ofLink]) {
      expect((await get(name, headers)).body).not.toContain(REFUSAL)
    }
  })
})

it('the s3 refuses what is not signed, as S3 does', async () => {
  const { 'a list of objects': list, 'an object': object } = attempts('127.0.0.1')
  const form = new FormData()
  form.set('key', 'new')
  form.set('file', new Blob(['x']))
  const bucket = `${service().demo.s3_endpoint}/${service().demo.sandbox_bucket}`
  const unsigned: [string | undefined, RequestInit?][] = [
    [list?.url],
    [`${object?.url}?X-Amz-Signature=0`],
    [`${bucket}/new`, { method: 'PUT', body: 'x' }],
    [bucket, { method: 'POST', body: form }],
  ]
  await expectNothingChangedBy(async () => {
    for (const [url = '', init] of unsigned) {
      const response = await fetch(url, init)
      expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('AccessDenied')])
    }
  })
})

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  const browser = useBrowser(`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`)
  const serve = useServers()
  let sitePort: string
  beforeAll(async () => {
    sitePort = new URL(await serve(somePage)).port
  })

  /** @returns what was answered, or could be read, of what should be refused */
  async function tryFrom(home: string, host: string): Promise<string[]> {
    const page = await browser().newPage()
    const passed: string[] = []
    // A page without leave to ask is not told the status.
    page.on('response', (answer) => {
      const isOfSite = new URL(answer.url()).port === sitePort
      if (!isOfSite && answer.status() !== 403) passed.push(`${answer.request().method()} ${answer.url()}`)
    })
    await page.goto(home)
    for (const [name, attempt] of Object.entries(attempts(host))) {
      for (const mode of ['cors', 'no-cors'] as const) {
        const ask = { ...attempt, mode }
        const asked = page.evaluate(({ url, ...init }) => fetch(url, init).then((answer) => answer.text()), ask)
        const read = await asked.catch(() => '')
        if (read !== '' && !read.includes(REFUSAL)) passed.push(`${name}, ${mode}: ${read}`)
      }
      await submit(page, attempt)
    }
    await page.close()
    return passed
  }

  /** A form may send text that is JSON: its name=value has the equals sign in a string. */
  async function submit(page: Page, { url, method = 'GET', body = '' }: Attempt): Promise<void> {
    const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    const to = `action="${escaped(url)}" method="${method === 'GET' ? 'get' : 'post'}" enctype="text/plain"`
    const field = `<input name="${escaped(`${body.slice(0, -1)},"x":"`)}" value="&quot;}">`
    await page.setContent(
      `<iframe name="frame"></iframe><form ${to} target="frame">${field}<button>send</button></form>`,
    )
    await Promise.all([
      page.waitForResponse((each) => each.url().startsWith(new URL(url).origin)),
      page.getByRole('button').click(),
    ])
  }

  it.each<[page: string, home: string, port: () => string, asking: string]>([
    ['of another name', 'localhost', () => sitePort, '127.0.0.1'],
    ['of another port', '127.0.0.1', () => sitePort, '127.0.0.1'],
    ['of another site', REBOUND, () => sitePort, '127.0.0.1'],
    ...NAMES.map((name): [string, string, () => string, string] => [
      `whose own name comes to lead to the ${name}`,
      REBOUND,
      () => portOf(name),
      REBOUND,
    ]),
  ])('a page %s reads nothing and changes nothing', async (_, home, port, asking) => {
    await expectNothingChangedBy(async () => expect(await tryFrom(`http://${home}:${port()}`, asking)).toEqual([]))
  })

  it('and all of it would have worked: the same requests, not from a page', async () => {
    const before = await everythingIn(service())
    for (const [name, { url, ...init }] of Object.entries(attempts('127.0.0.1'))) {
      const { status } = await fetch(url, init)
      const isUnsigned = ['a list of objects', 'an object'].includes(name)
      expect([name, status]).toEqual([name, isUnsigned ? 403 : 200])
    }
    const after = await everythingIn(service())
    const changed = Object.keys(after).filter((place) => `${after[place]}` !== `${before[place]}`)
    const { sandbox_bucket, documents_bucket } = service().demo
    const tables = ['KEYS_TABLE', 'WORKSPACES_TABLE', 'DOCUMENTS_TABLE']
    expect(changed.toSorted()).toEqual([...tables, sandbox_bucket, documents_bucket].toSorted())
  })
})
