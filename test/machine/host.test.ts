import { networkInterfaces } from 'node:os'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask as askAt } from '../support/machine/requests.ts'
import { type OwnService, startService } from '../support/machine/services.ts'

const NAME = 'host.docker.internal'
/** Where another machine, or a container, would find this one. */
const OUTSIDE = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address
if (OUTSIDE === undefined) console.warn('npm start -- --host IS NOT TESTED HERE: this machine has no other address.')

describe.skipIf(OUTSIDE === undefined)('npm start -- --host, asked from outside', () => {
  let service: OwnService
  let closed: OwnService
  beforeAll(async () => {
    ;[service, closed] = await Promise.all([startService({ host: NAME }), startService()])
  })
  afterAll(() => Promise.all([service.stop(), closed.stop()]))

  /** @param url of this machine, asked for at its other address */
  function ask(url: string, init: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
    const { port, pathname, search, host } = new URL(url)
    const { method, headers, body } = init
    return askAt({ host: OUTSIDE, port, path: `${pathname}${search}`, method, headers: { host, ...headers } }, body)
  }
  const named = (url: string) => url.replace('127.0.0.1', NAME)

  it('has a file put, promoted and downloaded, all by that name', async () => {
    const { demo } = service
    expect(demo.base_url_in_containers).toBe(named(demo.base_url))
    expect(demo.s3_endpoint_in_containers).toBe(named(demo.s3_endpoint))
    const Key = `sandboxes/${demo.workspace_id}/${demo.container_id}/a`
    const url = await getSignedUrl(service.s3, new PutObjectCommand({ Bucket: demo.sandbox_bucket, Key }))
    expect((await ask(named(url), { method: 'PUT', body: 'of a container' })).status).toBe(200)

    const headers = { authorization: `Bearer ${demo.standard_key}` }
    const file = `${demo.base_url_in_containers}/containers/${demo.container_id}/files/cfile_YQ`
    const promoted = await ask(`${file}/promote`, { method: 'POST', headers })
    expect(promoted.status, promoted.body).toBe(200)
    for (const content of [
      `/files/${JSON.parse(promoted.body).id}/content`,
      `${new URL(file).pathname.slice(3)}/content`,
    ]) {
      const { status, headers: sent } = await ask(`${demo.base_url_in_containers}${content}`, { headers })
      expect([status, new URL(`${sent.location}`).host]).toEqual([302, named(new URL(demo.s3_endpoint).host)])
      expect((await ask(`${sent.location}`)).body).toBe('of a container')
      const here = await fetch(`${demo.base_url}${content}`, { headers, redirect: 'manual' })
      expect(new URL(`${here.headers.get('location')}`).host).toBe(new URL(demo.s3_endpoint).host)
    }
  })

  it('refuses its address, and a page of this name at another port, at both servers: 403', async () => {
    for (const url of [service.demo.base_url, service.demo.s3_endpoint]) {
      for (const headers of [{ host: `${OUTSIDE}` }, { origin: `http://${NAME}:1` }]) {
        expect((await ask(named(url), { headers })).status).toBe(403)
      }
    }
  })

  it('hides the page, its keys and its uploads, and has no DynamoDB', async () => {
    const home = new URL('/', service.demo.base_url_in_containers).href
    for (const path of ['', 'demo.json', 'index.html']) expect((await ask(`${home}${path}`)).status).toBe(404)
    const upload = `workspace_id=ws_demo&container_id=${service.demo.container_id}&path=a`
    expect((await ask(`${home}demo/uploads?${upload}`, { method: 'PUT', body: 'x' })).status).toBe(404)
    expect((await fetch(new URL('/demo.json', service.demo.base_url))).status, 'on this machine').toBe(200)
    await expect(ask(service.demo.dynamodb_endpoint)).rejects.toThrow('ECONNREFUSED')
  })

  it('reaches nothing without the option', async () => {
    const { base_url, s3_endpoint, dynamodb_endpoint } = closed.demo
    for (const url of [base_url, s3_endpoint, dynamodb_endpoint]) {
      await expect(ask(url), url).rejects.toThrow('ECONNREFUSED')
    }
    expect((await fetch(base_url, { method: 'POST' })).status).toBe(404)
  })
})
