import type { DownloadSigner, SignedDownload } from '../../../lib/download.ts'

/** URLs that say what was signed. */
export function createFakeDownloadSigner(): DownloadSigner {
  const sign = async (bucket: string, { objectKey, contentType, contentDisposition }: SignedDownload) => {
    const url = new URL(`https://${bucket}.example/`)
    url.pathname = objectKey.split('/').map(encodeURIComponent).join('/')
    url.searchParams.set('type', contentType)
    url.searchParams.set('disposition', contentDisposition)
    return url.href
  }
  return {
    lifetimeSeconds: 120,
    signDocument: (download) => sign('documents', download),
    signContainerFile: (download) => sign('sandboxes', download),
  }
}
