import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { HAS_BROWSER } from '../support/machine/browser.ts'
import { isReady, useDocsSite, usePage } from '../support/machine/use-page.ts'

describe.skipIf(!HAS_BROWSER)('the page in a browser', () => {
  const { service, home, open } = usePage()
  const s3 = () => new URL(service().demo.s3_endpoint).host

  it('opens, promotes by one click, shows the document, and how full the workspace is', async () => {
    const { page, wrong } = await open()
    await isReady(page)
    const names = await page.locator('#files th').allTextContents()
    expect(names).toEqual(service().demo.files.map(({ path }) => path))

    await page.getByRole('button', { name: 'Promote output/report.csv' }).click()
    const outcome = page.locator('#outcome.done')
    await outcome.getByRole('heading', { name: 'output/report.csv is a document now' }).waitFor()
    const document = JSON.parse((await outcome.locator('pre').textContent()) ?? '')
    expect(document).toMatchObject({ _shape: 'native', filename: 'output/report.csv', size_bytes: 8763 })
    expect(await outcome.textContent()).toContain('8.56 KiB of 10 GiB of the workspace are used.')
    expect(await outcome.getByRole('meter').getAttribute('value')).toBe('8763')
    expect(wrong).toEqual([])
  })

  it('downloads a document as the API has it done: by its redirect to S3, which is not told the key', async () => {
    const { page, wrong } = await open()
    await page.getByRole('button', { name: 'Promote output/report.csv' }).click()
    const document = JSON.parse((await page.locator('#outcome.done pre').textContent()) ?? '')
    const asked: [url: string, key: string | undefined][] = []
    page.on('request', (request) => asked.push([request.url().split('?')[0] ?? '', request.headers().authorization]))
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download output/report.csv' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('report.csv')
    expect((await readFile(await download.path())).toString()).toMatch(/^row,sensor,value\n1,sensor-0,/)
    expect(asked[0]).toEqual([
      `${service().demo.base_url}/files/${document.id}/content`,
      `Bearer ${service().demo.standard_key}`,
    ])
    expect(asked.length).toBeGreaterThan(1)
    for (const [url, key] of asked.slice(1)) expect([new URL(url).host, key]).toEqual([s3(), undefined])
    expect(wrong.filter((line) => line !== `${s3()} was asked`)).toEqual([])
    expect(page.url()).toBe(home())
  })

  it('says in words why a download does not come about', async () => {
    const { page } = await open()
    await page.getByRole('button', { name: 'Promote output/report.csv' }).click()
    const download = page.getByRole('button', { name: 'Download output/report.csv' })
    const said = (hasText: RegExp | string) => page.getByRole('status').filter({ hasText }).waitFor()
    // As the browser has it fail where S3 does not let the page in.
    await page.route('**/content', (route) => route.abort())
    await download.click()
    await said('S3, and that must let this page in (CORS)')
    await page.unrouteAll()

    const { id } = JSON.parse((await page.locator('#outcome.done pre').textContent()) ?? '')
    const headers = { authorization: `Bearer ${service().demo.standard_key}` }
    await fetch(`${service().demo.base_url}/files/${id}`, { method: 'DELETE', headers })
    await download.click()
    await said(/^404: /)
  })

  it('redirects a visitor who uses another name of this machine to the one at which the API answers', async () => {
    const { page, wrong } = await open(home().replace('127.0.0.1', 'localhost'))
    await isReady(page)
    expect(page.url()).toBe(home())
    await page.getByRole('button', { name: 'Promote output/report.csv' }).click()
    await page.getByRole('meter').waitFor()
    expect(wrong.filter((line) => line !== `${new URL(home()).host} was asked`)).toEqual([])
  })

  it('says in words why the full workspace refuses: 403', async () => {
    const { page, wrong } = await open()
    await page.locator('#container').selectOption({ label: 'sess_full (ws_full)' })
    await page.getByRole('button', { name: 'Promote does-not-fit.bin' }).click()
    await page.getByText('403: The file does not fit into what is left of the storage quota: delete').waitFor()
    expect(await page.locator('#outcome.refused').getByRole('meter').getAttribute('max')).toBe('1048576')
    // A browser calls every answer of 400 and above an error of its console.
    expect(wrong.filter((line) => !line.includes('status of 403'))).toEqual([])
  })

  it('sends a request from the reference, with the key and the ids filled in', async () => {
    const { page, wrong } = await open()
    await isReady(page)
    await page.locator('.opblock-summary-control').first().click()
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
    await page.getByRole('heading', { name: 'output/report.csv is a document now' }).waitFor()
    expect(wrong).toEqual([])
  })

  it('needs no mouse', async () => {
    const { page } = await open()
    await isReady(page)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the API reference')
    const focused = () => page.evaluate("document.activeElement?.getAttribute('aria-label')")
    for (let tabs = 0; (await focused()) !== 'Promote output/summary.txt'; tabs++) {
      expect(tabs).toBeLessThan(20)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'output/summary.txt is a document now' }).waitFor()
    expect(await focused()).toBe('Promote output/summary.txt')
  })

  it('is dark for those who prefer it, and can be switched', async () => {
    const { page, wrong } = await open(home(), { colorScheme: 'dark' })
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(await ground()).toBe('rgb(22, 25, 29)')
    await page.getByRole('button', { name: 'Light' }).click()
    expect(await ground()).toBe('rgb(255, 255, 255)')
    expect(wrong).toEqual([])
  })

  it('fits on a narrow screen', async () => {
    const { page } = await open(home(), { viewport: { width: 360, height: 700 } })
    await isReady(page)
    await page.getByRole('button', { name: 'Promote output/report.csv' }).click()
    await page.getByRole('meter').waitFor()
    await page.locator('.opblock-summary-control').first().click()
    await page.getByRole('button', { name: 'Execute' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  })

  it.each([
    ['the renderer', '**/swagger-ui-bundle.js', '/swagger-ui-bundle.js could not be loaded.'],
    ['the description', '**/openapi.json', 'Failed to fetch'],
  ])('says in words that %s is missing', async (_, glob, said) => {
    const { page } = await open(home(), {}, (page) => page.route(glob, (route) => route.abort()))
    await page.getByRole('alert').filter({ hasText: said }).waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('The same description is in openapi.yaml.')
  })

  it('says in words that it needs JavaScript', async () => {
    const { page } = await open(home(), { javaScriptEnabled: false })
    await page.getByText('This page needs JavaScript.').waitFor()
  })

  describe('npm run docs', () => {
    const url = useDocsSite(() => service().directory, 'https://api.example.com/v1')

    it('writes the same reference for any host and path, with the address of the deployment and no demonstration', async () => {
      const { page, wrong } = await open(url())
      await isReady(page)
      expect(await page.locator('.servers select').inputValue()).toBe('https://api.example.com/v1')
      expect(await page.locator('#demo').isHidden()).toBe(true)
      expect(wrong.filter((line) => !line.includes('demo.json') && !line.includes('status of 404'))).toEqual([])
    })
  })
})
