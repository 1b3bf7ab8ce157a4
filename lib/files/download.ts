export interface SignedDownload {
  objectKey: string
  /** Sent as Content-Type, however the object was stored. */
  contentType: string
  contentDisposition: string
  /** Sent as Content-Encoding instead of the stored one. */
  contentEncoding?: string | undefined
}

/** Presigned GETs: each lets its holder read one object until it expires. Signing makes no call. */
export interface DownloadSigner {
  signDocument(download: SignedDownload, life: UrlLife): Promise<string>
  signContainerFile(download: SignedDownload, life: UrlLife): Promise<string>
}

/** In whole seconds, as signatures are dated. */
export interface UrlLife {
  from: Date
  until: Date
}

/** Long enough for a client to follow a redirect: whoever has the URL can use it. */
const URL_LIFE_MS = 120_000

/** @param expiresAt of what is downloaded, on a whole second: no URL outlives it */
export function lifeOfUrl(nowMs: number, expiresAt?: Date, lifeMs = URL_LIFE_MS): UrlLife {
  const fromMs = Math.floor(nowMs / 1000) * 1000
  const endMs = fromMs + lifeMs
  return { from: new Date(fromMs), until: new Date(Math.min(endMs, expiresAt?.getTime() ?? endMs)) }
}

export interface Download {
  url: string
  expiresAt: Date
}
