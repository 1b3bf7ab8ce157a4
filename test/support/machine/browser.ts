import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'

/** The npm package has a browser for this platform only; elsewhere, CHROMIUM names one of your own. */
export const HAS_BROWSER =
  process.env.CHROMIUM !== undefined || (process.platform === 'linux' && process.arch === 'x64')
if (!HAS_BROWSER)
  console.warn('PAGES ARE NOT TESTED HERE: there is no browser for this machine; CHROMIUM may name one.')

export type TestBrowser = Awaited<ReturnType<typeof startBrowser>>

/** A headless Chromium that keeps to the rules of the web: the package's own arguments would switch some of them off. */
export async function startBrowser() {
  const directory = await mkdtemp(join(tmpdir(), 'promotion-browser-'))
  try {
    const executablePath = process.env.CHROMIUM ?? (await unpack(directory))
    const args = ['--headless=shell', '--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none']
    const browser = await playwright.launch({ executablePath, args })
    const stop = async () => {
      await browser.close()
      await rm(directory, { recursive: true, force: true })
    }
    return { browser, stop }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

/** The package unpacks into the directory for temporary files, and takes what is there for its own. */
async function unpack(directory: string): Promise<string> {
  const usual = process.env.TMPDIR
  process.env.TMPDIR = directory
  try {
    return await chromium.executablePath()
  } finally {
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
  }
}
