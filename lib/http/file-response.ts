import type { WorkspaceDocument } from '../promotion/ports.ts'
import type { FileShape } from './file-shape.ts'

/** The file response of interface.md §2.3, in the wanted shape. */
export function fileResponse(document: WorkspaceDocument, shape: FileShape): Record<string, unknown> {
  if (shape === 'compat_b') {
    return {
      _shape: shape,
      id: document.documentId,
      object: 'file',
      bytes: document.sizeBytes,
      created_at: Math.floor(document.createdAt.getTime() / 1000),
      filename: document.filename,
      // What a tool made and the API lets one download, in that vendor's words.
      purpose: 'assistants_output',
      status: 'processed',
    }
  }
  return {
    _shape: shape,
    id: document.documentId,
    type: 'file',
    filename: document.filename,
    mime_type: document.mimeType,
    size_bytes: document.sizeBytes,
    created_at: document.createdAt.toISOString(),
    downloadable: true,
  }
}
