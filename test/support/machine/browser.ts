import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'

/** The npm package has a browser for this platform only; elsewhere, CHROMIUM names one of your own. */
export const HAS_BROWSER =
  process.env.CHROMIUM !== undefined || (process.platform === 'linux' && process.arch === 'x64')
if (!HAS_BROWSER)
  console.warn('PAGES ARE NOT TESTED HERE: there is no browser for this machine; CHROMIUM may name one.')

/**
 * A headless Chromium that keeps to the rules of the web: the package's own arguments would switch some of them off.
 * @param directory where it is unpacked, unless it is there already
 */
export async function startBrowser(directory: string) {
  const args = ['--headless=shell', '--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none']
  return playwright.launch({ executablePath: await unpackBrowser(directory), args })
}

/** The package unpacks into the directory for temporary files, and takes what is there for its own. @returns the program */
export async function unpackBrowser(directory: string): Promise<string> {
  const { CHROMIUM, TMPDIR } = process.env
  if (CHROMIUM !== undefined) return CHROMIUM
  process.env.TMPDIR = directory
  try {
    return await chromium.executablePath()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}
