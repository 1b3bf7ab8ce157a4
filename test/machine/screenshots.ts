import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildFunctions } from '../../infra/bundle/build.ts'
import { readServiceDefinition } from '../../infra/deploy/service-definition.ts'
import { startLocalService } from '../../infra/local/service.ts'
import { startBrowser } from '../support/machine/browser.ts'

/** npm run screenshots: the page of npm start after a promotion, as docs/page shows it. */
const ROOT = join(import.meta.dirname, '../..')
const VIEWS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 720 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 720 } },
  { name: 'narrow', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const

const directory = await mkdtemp(join(tmpdir(), 'promotion-screenshots-'))
await buildFunctions({ root: ROOT, outDir: join(ROOT, 'dist') })
const definition = readServiceDefinition()
const where = { definition, port: 0, directory, environment: {} }
const service = await startLocalService({ ...where, log: () => {} })
const browser = await startBrowser(directory)
try {
  for (const { name, ...view } of VIEWS) {
    const page = await browser.newPage(view)
    await page.goto(new URL('/', service.demo.base_url).href)
    await page.getByRole('button', { name: 'Promote output/report.csv' }).click()
    await page.getByRole('status').filter({ hasText: 'output/report.csv is a document now.' }).waitFor()
    const path = join(ROOT, `docs/page/${name}.png`)
    await page.screenshot({ path })
    console.log(path)
    await page.close()
  }
} finally {
  await browser.close()
  await service.stop()
  await rm(directory, { recursive: true, force: true })
}
