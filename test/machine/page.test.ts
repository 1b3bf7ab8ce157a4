import { readFile } from 'node:fs/promises'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { HAS_BROWSER } from '../support/machine/browser.ts'
import { run } from '../support/machine/program.ts'
import { isReady, usePage } from '../support/machine/use-page.ts'

const SIZES = [
  { width: 1280, height: 720 },
  { width: 900, height: 800 },
  { width: 390, height: 844 },
]
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const bottom = (box: { y: number; height: number } | null) => (box ? box.y + box.height : Number.NaN)
const documents = (page: Page) => page.locator('#document-rows > li')
const ground = (page: Page) => page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
const [LIGHT, DARK] = ['rgb(241, 244, 246)', 'rgb(18, 21, 26)']
const rowOf = (page: Page, path: string) => page.locator('#file-rows > li').filter({ hasText: path })

async function promote(page: Page, path: string): Promise<void> {
  await button(page, `Promote ${path}`).click()
  await page
    .getByRole('status')
    .filter({ hasText: `${path} is a document now.` })
    .waitFor()
}

/** axe looks once nothing moves. */
async function violations(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  await page.emulateMedia({ colorScheme })
  await page.evaluate('for (const each of document.getAnimations()) each.finish()')
  await page.evaluate(axe.source)
  const { violations, passes } = (await page.evaluate('axe.run()')) as axe.AxeResults
  expect(passes.map(({ id }) => id)).toContain('color-contrast')
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

describe.skipIf(!HAS_BROWSER)('the page in a browser', () => {
  const { service, home, open } = usePage()
  const s3 = () => new URL(service().demo.s3_endpoint).host
  const put = (path: string, text = 'x') => {
    const { workspace_id, container_id } = service().demo
    return service().putFile(workspace_id as WorkspaceId, container_id, path, Buffer.from(text))
  }

  describe.each(SIZES)('at $width × $height', (viewport) => {
    it('shows the sandbox beside or above the documents, and a promotion that moves, without scrolling', async () => {
      const { page, wrong } = await open(home(), { viewport })
      await rowOf(page, 'output/report.csv').waitFor()
      const { container_id, full_workspace } = service().demo
      const containers = [container_id, full_workspace.container_id]
      expect(await page.locator('#container option').allTextContents()).toEqual(containers)
      const listed = await page.locator('#file-rows p:first-child').allTextContents()
      expect(listed).toEqual(
        service()
          .demo.files.map(({ path }) => path)
          .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      )
      const [left, right] = await page
        .locator('.panel')
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect()))
      expect(viewport.width >= 900 ? right?.top === left?.top : (right?.top ?? 0) > (left?.bottom ?? 0)).toBe(true)

      const list = await page.locator('#files').boundingBox()
      const last = await rowOf(page, listed[viewport.width < 640 ? 4 : 5] ?? '').boundingBox()
      expect(bottom(last)).toBeLessThanOrEqual(bottom(list))
      // No row is cut in half.
      expect((list?.height ?? 0) % (last?.height ?? 0)).toBe(0)
      expect(bottom(list)).toBeLessThanOrEqual(viewport.height)
      const before = await documents(page).count()
      await promote(page, 'output/report.csv')
      expect(await documents(page).count()).toBe(before + 1)
      const newest = documents(page).first()
      const [day, time] = [/\d+ \w+ 20\d\d/, /\d\d:\d\d/].map(({ source }) => source)
      const said = `^output/report\\.csv8\\.56 KiB, text/csv, from sess_demo-r4k2, ${day}, ${time}LinkPut backDownload`
      expect(await newest.textContent()).toMatch(new RegExp(said))
      expect(await newest.evaluate((row) => row.getAnimations().length)).toBe(1)
      expect(bottom(await newest.boundingBox())).toBeLessThanOrEqual(viewport.height)
      expect([await ground(page), await page.evaluate('[scrollX, scrollY]')]).toEqual([LIGHT, [0, 0]])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width)
      expect(wrong).toEqual([])
    })

    // At 900 it is as at 1280.
    if (viewport.width === 900) return
    it('has nothing that axe objects to, and room for a thumb', async () => {
      // Colours do not depend on the size.
      const schemes = viewport === SIZES[0] ? (['light', 'dark'] as const) : (['light'] as const)
      const { page } = await open(home(), { viewport })
      await promote(page, 'output/summary.txt')
      await page.evaluate("document.querySelector('#sent').open = true")
      await page.locator('#key').selectOption('powerless_key')
      await button(page, 'Promote output/report.csv').click()
      await page.locator('.refused').waitFor()
      for (const scheme of schemes) expect(await violations(page, scheme)).toEqual([])
      await page.locator('#container').selectOption('sess_full')
      await page.locator('#used.danger').waitFor()
      for (const scheme of schemes) expect(await violations(page, scheme)).toEqual([])
      const targets = page.locator('header a, button, select, summary')
      const small = await targets.evaluateAll((all) =>
        all
          .filter((each) => each.checkVisibility())
          .map((each) => each.getBoundingClientRect())
          .filter(({ width, height }) => width < 44 || height < 44),
      )
      expect(small).toEqual([])
    })
  })

  it('downloads a document as the API has it done: by its redirect to S3, which is not told the key', async () => {
    const { page, wrong } = await open()
    await promote(page, 'output/report.csv')
    const asked: [url: string, key: string | undefined][] = []
    page.on('request', (request) => {
      if (!('page-look' in request.headers()))
        asked.push([request.url().split('?')[0] ?? '', request.headers().authorization])
    })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Download output/report.csv').first().click(),
    ])
    expect(download.suggestedFilename()).toBe('report.csv')
    expect((await readFile(await download.path())).toString()).toMatch(/^row,sensor,value\n1,sensor-0,/)
    const ofS3 = asked.filter(([url]) => new URL(url).host === s3())
    expect(asked.find(([url]) => url.endsWith('/content'))?.[1]).toBe(`Bearer ${service().demo.standard_key}`)
    expect(ofS3.length).toBeGreaterThan(0)
    for (const [, key] of ofS3) expect(key).toBeUndefined()
    expect(wrong.filter((line) => line !== `${s3()} was asked`)).toEqual([])
    expect(page.url()).toBe(home())
  })

  it('puts a document into the container, and says in its row when another file is in the way', async () => {
    const { page } = await open()
    await put('notes.txt', 'first')
    await rowOf(page, 'notes.txt').waitFor()
    await promote(page, 'notes.txt')
    const row = documents(page).filter({ hasText: 'notes.txt' }).first()
    const putIn = row.getByRole('button', { name: 'Put back notes.txt', exact: true })
    await putIn.click()
    await page.getByRole('status').filter({ hasText: 'notes.txt is in sess_demo-r4k2.' }).waitFor()
    expect(await page.locator('#request').inputValue()).toContain("/files'")
    await put('notes.txt', 'second')
    await putIn.click()
    await row.locator('.refused').waitFor()
    expect(await row.locator('.refused').textContent()).toMatch(/^400: The container has another file at this path/)
  })

  it('makes a link, which a browser without a key opens, and shows its end', async () => {
    const { page } = await open()
    await promote(page, 'output/summary.txt')
    const row = documents(page).filter({ hasText: 'summary.txt' }).first()
    await row.getByRole('button', { name: 'Link output/summary.txt', exact: true }).click()
    await page
      .getByRole('status')
      .filter({ hasText: /^The link to output.summary.txt ends on \d/ })
      .waitFor()
    expect(await row.locator('.link').textContent()).toMatch(/^This link opens it for anybody until .+ 20\d\d/)
    const answer = await fetch(`${await row.locator('.link a').getAttribute('href')}.`)
    expect([answer.redirected, answer.status]).toEqual([true, 200])
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="summary.txt"/)
  })

  it('asks in its row before it deletes, and keeps if one says so', async () => {
    const { page } = await open()
    await promote(page, 'empty.txt')
    const before = await documents(page).count()
    const row = documents(page).filter({ hasText: 'empty.txt' }).first()
    const focused = () => page.evaluate("document.activeElement?.getAttribute('aria-label')")
    await row.getByRole('button', { name: 'Delete empty.txt', exact: true }).click()
    expect(await focused()).toBe('Keep empty.txt')
    await page.keyboard.press('Enter')
    await expect.poll(focused).toBe('Delete empty.txt')
    expect(await documents(page).count()).toBe(before)
    await row.getByRole('button', { name: 'Delete empty.txt', exact: true }).click()
    await row.getByRole('button', { name: 'Delete for ever empty.txt' }).click()
    await page.getByRole('status').filter({ hasText: 'empty.txt is deleted.' }).waitFor()
    expect(await documents(page).count()).toBe(before - 1)
  })

  it('promotes all, says what became of them, and in its row why one is refused', async () => {
    const { page } = await open()
    await page.locator('#container').selectOption('sess_full')
    await rowOf(page, 'fits.txt').waitFor()
    await button(page, 'Promote all').click()
    await page.getByRole('status').filter({ hasText: '1 refused, 1 promoted.' }).waitFor()
    await rowOf(page, 'does-not-fit.bin').getByText('403: The file does not fit').waitFor()
    await button(page, 'Promote all').click()
    await page.getByRole('status').filter({ hasText: '1 refused, 1 kept.' }).waitFor()
    expect(await page.locator('#request').inputValue()).toContain(`-d '{"prefix":""}'`)
    await page.locator('#container').selectOption('sess_demo-r4k2')
    await rowOf(page, 'output/report.csv').waitFor()
    await page.locator('#key').selectOption('powerless_key')
    await button(page, 'Promote all').click()
    const refused = await page.locator('#files > .refused').boundingBox()
    const first = await page.locator('#file-rows > li').first().boundingBox()
    expect(bottom(refused)).toBeLessThanOrEqual(first?.y ?? 0)
  })

  it('shows how many there are, and those with a name that one looks for', async () => {
    const { page } = await open()
    await rowOf(page, 'output/report.csv').waitFor()
    const all = await page.locator('#file-count').textContent()
    await page.getByLabel('Filter the files by name').fill('OUTPUT/')
    await expect.poll(() => page.locator('#file-count').textContent()).toBe(`3 of ${all}`)
    const shown = page.locator('#file-rows > li:visible p:first-child')
    expect(await shown.allTextContents()).toEqual(['output/pixel.png', 'output/report.csv', 'output/summary.txt'])
  })

  it('says in its row why the full workspace refuses: 403, until the next action', async () => {
    const { page, wrong } = await open()
    await page.locator('#container').selectOption('sess_full')
    await button(page, 'Promote does-not-fit.bin').click()
    const said = '403: The file does not fit into what is left of the storage quota: delete'
    await rowOf(page, 'does-not-fit.bin').getByText(said).waitFor()
    expect(await page.locator('#used').textContent()).toBe('977 KiB of 1 MiB, nearly full')
    expect(await page.getByRole('meter').getAttribute('max')).toBe('1048576')
    expect(await page.locator('#answer').inputValue()).toMatch(/^403\n/)
    await promote(page, 'fits.txt')
    expect(await page.locator('.refused').count()).toBe(0)
    expect(await page.locator('#answer').inputValue()).toMatch(/^200\n/)
    // A browser calls every answer of 400 and above an error of its console.
    expect(wrong.filter((line) => !line.includes('status of 403'))).toEqual([])
  })

  it('sends with the key that is chosen, and reads with the management key: 403', async () => {
    const { page } = await open()
    await page.locator('#key').selectOption('powerless_key')
    await button(page, 'Promote output/report.csv').click()
    await rowOf(page, 'output/report.csv')
      .getByText(/^403: .*files:promote/)
      .waitFor()
    await page.locator('#container').selectOption('sess_full')
    await rowOf(page, 'fits.txt').waitFor()
    expect(await page.locator('#key').inputValue()).toBe('standard_key')
  })

  it('shows what was sent in curl, which does the same again', async () => {
    const { page, wrong } = await open()
    await promote(page, 'output/pixel.png')
    // This browser lets nobody write into its clipboard.
    await button(page, 'Copy').click()
    await page.getByText('Selected: copy it with the keyboard.').waitFor()
    const before = await documents(page).count()
    const { stdout } = await run('sh', ['-c', await page.locator('#request').inputValue()])
    expect(stdout).toMatch(/200[\s\S]*"filename":"output\/pixel.png"/)
    // Others' documents show, too.
    await expect.poll(() => documents(page).count(), { timeout: 10_000 }).toBe(before + 1)
    expect(wrong).toEqual([])
  })

  it('shows a file that somebody put there, with a name that would be HTML, as text', async () => {
    const { page, wrong } = await open()
    await rowOf(page, 'output/report.csv').waitFor()
    const name = '<img src=x onerror=alert(1)>.txt'
    await put(name)
    await promote(page, name)
    expect(await documents(page).first().locator('p').first().textContent()).toBe(name)
    expect(await page.locator('#product img').count()).toBe(0)
    expect(wrong).toEqual([])
  })

  it('shows the files of any container, where a document is from and until when, and what a name hides', async () => {
    const { workspace_id, base_url, standard_key } = service().demo
    const path = 'gnp\u202egpj.exe'
    await service().putFile(workspace_id as WorkspaceId, 'sess_other', path, Buffer.from('x'))
    const url = `${base_url}/containers/sess_other/files/${formatFileId(path)}/promote`
    const headers = { authorization: `Bearer ${standard_key}`, 'file-expires-in': '7776000' }
    expect((await fetch(url, { method: 'POST', headers })).status).toBe(200)
    const { page } = await open()
    await page.locator('#container').selectOption('sess_other')
    await rowOf(page, 'gnp\\u{202e}gpj.exe').waitFor()
    const row = documents(page).filter({ hasText: 'gnp\\u{202e}gpj.exe' })
    expect(await row.textContent()).toMatch(/, until \d+ \w+ 20\d\d, .*, from sess_other, /)
    expect(await page.locator('#stay').textContent()).toBe(`stay in ${workspace_id}, some for a time`)
  })

  it('waits on a slow network, and never says that there is nothing, or nobody, before an answer', async () => {
    const { page } = await open(home(), {}, async (page) => {
      const wire = await page.context().newCDPSession(page)
      const slow = { offline: false, latency: 500, downloadThroughput: 16_384, uploadThroughput: 16_384 }
      await wire.send('Network.emulateNetworkConditions', slow)
      await page.addInitScript(`
        const look = () => {
          const shown = [...document.querySelectorAll('.none, #gone, .loading')].filter((each) => each.textContent && each.checkVisibility())
          window.said = new Set([...(window.said ?? []), ...shown.map((each) => each.textContent)])
          if (!document.querySelector('#document-rows li')) requestAnimationFrame(look)
        }
        look()
      `)
    })
    await documents(page).first().waitFor({ timeout: 120_000 })
    expect(await page.evaluate('[...window.said]')).toEqual(['Loading …'])
  })

  describe('a file of one’s own', () => {
    const file = { name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from('Mine!') }

    it('is uploaded, and appears', async () => {
      const { page } = await open()
      await rowOf(page, 'output/report.csv').waitFor()
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button(page, 'Add files').click()])
      await chooser.setFiles(file)
      await page.getByRole('status').filter({ hasText: 'mine.txt is in the sandbox.' }).waitFor()
      expect(await page.locator('#uploads > li').count()).toBe(0)
      expect(await rowOf(page, 'mine.txt').textContent()).toContain('5 bytes')
      await promote(page, 'mine.txt')
    })

    it('may be dropped anywhere; what is refused stands in its row until the next action', async () => {
      const { page } = await open()
      await page.route('**/demo/uploads?*', (route) => route.fulfill({ status: 400, json: { detail: 'Too large' } }))
      await rowOf(page, 'output/report.csv').waitFor()
      await page.evaluate(`
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File(['x'], 'big.bin'))
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
      `)
      await page.locator('#uploads > li').filter({ hasText: '400: Too large' }).waitFor()
      await promote(page, 'output/report.csv')
      expect(await page.locator('#uploads > li').count()).toBe(0)
    })
  })

  it('says once that the service does not answer, and goes on by itself when it is back', async () => {
    const { page } = await open()
    await rowOf(page, 'output/report.csv').waitFor()
    await page.context().setOffline(true)
    await button(page, 'Promote output/report.csv').click()
    const line = page.getByRole('alert').filter({ hasText: 'The service does not answer: start it with npm start' })
    await line.waitFor()
    await expect.poll(() => button(page, 'Promote output/report.csv').textContent()).toBe('Promote')
    expect(await page.getByText('Failed to fetch').count()).toBe(0)
    await page.context().setOffline(false)
    await line.waitFor({ state: 'hidden' })
    await promote(page, 'output/report.csv')
  })

  it('says in its row that a download broke while the API answers', async () => {
    const { page } = await open()
    await promote(page, 'output/report.csv')
    await page.route('**/content', (route) => route.abort())
    await button(page, 'Download output/report.csv').first().click()
    await documents(page).first().locator('.refused').waitFor()
  })

  it('redirects a visitor who uses another name of this machine to the one at which the API answers', async () => {
    for (const path of ['', 'reference']) {
      const { page } = await open(home().replace('127.0.0.1', 'localhost') + path)
      expect(page.url()).toBe(home() + path)
    }
  })

  it('needs no mouse', async () => {
    const { page } = await open()
    await rowOf(page, 'output/report.csv').waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the files')
    await page.keyboard.press('Enter')
    const focused = () => page.evaluate("document.activeElement?.getAttribute('aria-label')")
    for (let tabs = 0; (await focused()) !== 'Promote output/summary.txt'; tabs++) {
      expect(tabs).toBeLessThan(20)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('status').filter({ hasText: 'output/summary.txt is a document now.' }).waitFor()
    expect(await focused()).toBe('Promote output/summary.txt')
  })

  it('says in words that it needs JavaScript', async () => {
    const { page } = await open(home(), { javaScriptEnabled: false })
    await page.getByText('This page needs JavaScript.').waitFor()
  })

  describe('its reference', () => {
    const reference = () => `${home()}reference`

    it('sends a request, with the key and the ids filled in, on a narrow screen, dark like the page for those who prefer it', async () => {
      const { page, wrong } = await open(home(), { viewport: { width: 360, height: 700 }, colorScheme: 'dark' })
      expect(await ground(page)).toBe(DARK)
      await page.getByRole('link', { name: 'API reference' }).click()
      await isReady(page)
      expect(await ground(page)).toBe(DARK)
      await page.locator('.btn.authorize.locked').waitFor()
      await page.locator('.opblock-summary-control').first().click()
      await page.getByRole('button', { name: 'Execute' }).click()
      await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
      expect(wrong).toEqual([])
    })

    it.each([
      ['the renderer', '**/swagger-ui-bundle.js', '/swagger-ui-bundle.js could not be loaded.'],
      ['the description', '**/openapi.json', 'Failed to fetch'],
    ])('says in words that %s is missing', async (_, glob, said) => {
      const { page } = await open(reference(), {}, (page) => page.route(glob, (route) => route.abort()))
      await page.getByRole('alert').filter({ hasText: said }).waitFor()
      expect(await ground(page)).toBe(LIGHT)
      expect(await page.getByRole('alert').textContent()).toContain('The API is described in openapi.yaml, too.')
    })
  })
})
