/** What a presigned URL gives out, and under which names. */
export interface SignedDownload {
  objectKey: string
  /** Sent as Content-Type, whatever the object was stored with. */
  contentType: string
  contentDisposition: string
}

/** Presigned GETs: whoever has one reads this object, and nothing else, until it expires. Signing calls nobody. */
export interface DownloadSigner {
  readonly lifetimeSeconds: number
  signDocument(download: SignedDownload): Promise<string>
  signContainerFile(download: SignedDownload): Promise<string>
}
