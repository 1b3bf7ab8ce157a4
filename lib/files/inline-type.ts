import { essenceOf } from './media-type.ts'

/**
 * What a browser shows by itself, and takes for nothing else. HTML, SVG and XML are not among them: they bring scripts
 * along, or what looks like the page of somebody else.
 */
const SHOWN = new Set([
  ...['image/avif', 'image/bmp', 'image/gif', 'image/jpeg', 'image/png', 'image/webp', 'application/pdf'],
  ...['audio/aac', 'audio/flac', 'audio/mp4', 'audio/mpeg', 'audio/ogg', 'audio/wav', 'audio/webm'],
  ...['video/mp4', 'video/ogg', 'video/webm'],
])
const TEXT = 'text/plain; charset=utf-8'
const SHOWN_AS_TEXT = new Set(['text/plain', 'text/csv', 'text/markdown', 'application/json'])

/** The type under which a browser may show a document, never in its container's words. @returns undefined: under none */
export function inlineType(mimeType: string): string | undefined {
  const type = essenceOf(mimeType)
  if (SHOWN_AS_TEXT.has(type)) return TEXT
  return SHOWN.has(type) ? type : undefined
}

export const isPlayed = (type: string) => /^(audio|video)\//.test(type)
