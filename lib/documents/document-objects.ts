export interface DocumentObjects {
  /** @returns undefined when the object is lost */
  findDocumentObject(objectKey: string, signal: AbortSignal): Promise<{ isArchived: boolean } | undefined>
}
