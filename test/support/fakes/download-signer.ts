import type { DownloadSigner, SignedDownload } from '../../../lib/download.ts'

/** URLs that say what was signed. */
export function createFakeDownloadSigner(): DownloadSigner {
  const sign = async (bucket: string, { objectKey, ...signed }: SignedDownload) => {
    const url = new URL(`https://${bucket}.example/`)
    url.pathname = objectKey.split('/').map(encodeURIComponent).join('/')
    url.searchParams.set('type', signed.contentType)
    url.searchParams.set('disposition', signed.contentDisposition)
    url.searchParams.set('encoding', signed.contentEncoding ?? '')
    return url.href
  }
  return {
    lifetimeSeconds: 120,
    signDocument: (download) => sign('documents', download),
    signContainerFile: (download) => sign('sandboxes', download),
  }
}
