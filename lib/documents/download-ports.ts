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
  readonly lifetimeSeconds: number
  signDocument(download: SignedDownload): Promise<string>
  signContainerFile(download: SignedDownload): Promise<string>
}

export interface DocumentObjects {
  /** @returns undefined when the object is lost */
  findDocumentObject(objectKey: string, signal: AbortSignal): Promise<{ isArchived: boolean } | undefined>
}
