import { ServiceError } from '../errors.ts'
import { headerValue, type RequestHeaders } from './request-headers.ts'

export const FILE_SHAPES = ['native', 'compat_a', 'compat_b'] as const
export type FileShape = (typeof FILE_SHAPES)[number]

export interface AnswerShape {
  shape: FileShape
  /** The value of `_shape`. */
  label: string
}

const COMPAT_A_HEADER = 'anthropic-version'
/** Both vendors' libraries send the last one; the first vendor's are recognised earlier, by a header of their own. */
const COMPAT_B_HEADERS = ['openai-organization', 'openai-project', 'openai-beta', 'x-stainless-lang']
const COMPAT_B_USER_AGENT = /^(Async)?OpenAI\//
/** This library knows the shapes only by their vendors' names, and takes any other name for unknown. */
const VENDOR_WORDS_USER_AGENT = /^speakeasy-sdk\/.*@openrouter\/sdk/
const VENDOR_WORDS = { native: 'openrouter', compat_a: 'anthropic', compat_b: 'openai' } as const satisfies Record<
  FileShape,
  string
>

/** The request headers an answer depends on. */
export const VARY = [
  'File-Shape',
  'Anthropic-Version',
  'User-Agent',
  'OpenAI-Organization',
  'OpenAI-Project',
  'OpenAI-Beta',
  'X-Stainless-Lang',
].join(', ')

/**
 * The shape that the request names, else the one that the client's library understands, else native
 * (docs/openapi.yaml, FileShape). One library does not know the names that are given there, and gets its own.
 * @throws ServiceError invalid_file_shape
 */
export function chooseShape(event: RequestHeaders): AnswerShape {
  const wanted = headerValue(event, 'file-shape')
  if (wanted !== undefined) {
    const shape = FILE_SHAPES.find((each) => each === wanted.trim())
    if (shape === undefined) throw new ServiceError('invalid_file_shape')
    return { shape, label: shape }
  }
  const userAgent = headerValue(event, 'user-agent') ?? ''
  const shape = shapeOfLibrary(event, userAgent)
  return { shape, label: VENDOR_WORDS_USER_AGENT.test(userAgent) ? VENDOR_WORDS[shape] : shape }
}

function shapeOfLibrary(event: RequestHeaders, userAgent: string): FileShape {
  if (headerValue(event, COMPAT_A_HEADER) !== undefined) return 'compat_a'
  const isCompatB =
    COMPAT_B_USER_AGENT.test(userAgent) || COMPAT_B_HEADERS.some((name) => headerValue(event, name) !== undefined)
  return isCompatB ? 'compat_b' : 'native'
}
