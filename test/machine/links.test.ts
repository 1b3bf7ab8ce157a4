import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { HAS_BROWSER } from '../support/machine/browser.ts'
import { usePage } from '../support/machine/use-page.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
trailer<</Root 1 0 R>>`
const HTML = '<script>document.title = "it runs"</script>'

describe.skipIf(!HAS_BROWSER)('a link in a browser, which has no key', () => {
  const { service, open } = usePage()
  /** Of a document with these bytes and this type. */
  async function documentOf(path: string, bytes: Buffer, contentType: string): Promise<string> {
    const { workspace_id, container_id } = service().demo
    await service().putFile(workspace_id as WorkspaceId, container_id, path, bytes, contentType)
    const promoted = await service().ask('POST', `/containers/${container_id}/files/${formatFileId(path)}/promote`)
    return promoted.body.id
  }
  const makeLink = async (id: string, disposition: string, key?: string) =>
    (await service().ask('POST', `/files/${id}/links`, { body: { disposition }, ...(key && { key }) })).body
  const linkTo = async (id: string, disposition: string): Promise<string> => (await makeLink(id, disposition)).url
  const typeOf = (page: Page) => page.evaluate('document.contentType')

  it('shows a picture', async () => {
    const { page } = await open(
      await linkTo(await documentOf('a.png', Buffer.from(PNG, 'base64'), 'image/png'), 'inline'),
    )
    expect([await typeOf(page), await page.evaluate('document.images[0].naturalWidth')]).toEqual(['image/png', 1])
  })

  it.each(['text/plain', 'text/csv', 'application/json', 'text/markdown; charset=x'])(
    'shows %s as text',
    async (type) => {
      const id = await documentOf('a.txt', Buffer.from(`${HTML} é`), type)
      const { page } = await open(await linkTo(id, 'inline'))
      expect([await typeOf(page), await page.title()]).toEqual(['text/plain', ''])
      expect(await page.evaluate('document.body.innerText')).toBe(`${HTML} é`)
    },
  )

  // This browser has no viewer for PDF: it shows what the answer tells others.
  it('gets a PDF to show', async () => {
    const answer = await fetch(await linkTo(await documentOf('a.pdf', Buffer.from(PDF), 'application/pdf'), 'inline'))
    const told = ['content-type', 'content-disposition'].map((name) => answer.headers.get(name))
    expect(told).toEqual(['application/pdf', `inline; filename="a.pdf"; filename*=UTF-8''a.pdf`])
    expect(await answer.text()).toBe(PDF)
  })

  it.each(['text/html', 'image/svg+xml', 'application/xml'])('saves %s, and runs nothing of it', async (type) => {
    const id = await documentOf('a.html', Buffer.from(HTML), type)
    expect((await makeLink(id, 'inline')).error).toMatchObject({ metadata: { reason: 'inline_not_allowed' } })
    const { page } = await open()
    const saving = page.waitForEvent('download')
    const address = await linkTo(id, 'attachment')
    await page.goto(address).catch(() => undefined)
    expect((await saving).suggestedFilename()).toBe('a.html')
    expect(await page.title()).not.toBe('it runs')
  })

  it('is listed and taken back by the command line, alone or with the key that made it', async () => {
    const { workspace_id } = service().demo
    const id = await documentOf('b.txt', Buffer.from('b'), 'text/plain')
    const addresses = [await linkTo(id, 'attachment'), await linkTo(id, 'inline')]
    const other = await makeLink(id, 'attachment', service().demo.standard_key)
    const statuses = () => Promise.all(addresses.map(async (each) => (await fetch(each)).status))
    const links = async () => (await service().admin('documents', 'links', workspace_id, id)).stdout
    const [, linkId = '', keyId = ''] = /(link_\w+) +attachment .* (key_\w+)/.exec(await links()) ?? []
    expect(await statuses()).toEqual([200, 200])
    expect((await service().admin('documents', 'unlink', workspace_id, id, linkId, '--yes')).stderr).toContain(
      'taken back',
    )
    expect((await service().admin('documents', 'unlink', workspace_id, id, linkId, '--yes')).stderr).toContain(
      'no such link',
    )
    expect(await statuses()).toEqual([404, 200])
    const changed = await service().admin('keys', 'change', keyId, '--expires', 'never', '--with-links')
    expect(changed.stderr).toMatch(/^\d+ links? taken back/)
    expect([await statuses(), (await fetch(other.url)).status]).toEqual([[404, 404], 200])
    // Also of a key that is gone.
    for (const more of [[], ['--with-links']])
      await service().admin('keys', 'delete', other.created_by, '--yes', ...more)
    expect([(await fetch(other.url)).status, await links()]).toEqual([404, ''])
  })
})
