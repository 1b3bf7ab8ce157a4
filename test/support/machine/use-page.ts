import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { oncePerRun } from '../once-per-run.ts'
import { startBrowser, unpackBrowser } from './browser.ts'
import { useService } from './services.ts'

/** A browser, and the page of a service of the file's own. */
export function usePage() {
  const service = useService()
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser(await oncePerRun('browser', unpackBrowser))
  })
  afterAll(() => browser?.close())
  const home = () => new URL('/', service().demo.base_url).href

  return {
    service,
    /** Where the page is. */
    home,

    /** @returns the page, and what should stay empty: errors of its console, requests to other hosts (and ports) */
    async open(url = home(), options: BrowserContextOptions = {}, prepare?: (page: Page) => Promise<unknown>) {
      const page = await browser.newPage(options)
      onTestFinished(() => page.close())
      const wrong: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error') wrong.push(message.text())
      })
      page.on('pageerror', (error) => wrong.push(error.message))
      page.on('request', (request) => {
        const { protocol, host } = new URL(request.url())
        if (protocol !== 'data:' && protocol !== 'blob:' && host !== new URL(url).host) wrong.push(`${host} was asked`)
      })
      await prepare?.(page)
      await page.goto(url)
      return { page, wrong }
    },
  }
}

export const isReady = (page: Page) => page.locator('.opblock').first().waitFor()
