import type { APIGatewayProxyEvent } from 'aws-lambda'
import { ServiceError } from '../errors.ts'
import { headerValue } from './request-headers.ts'

export const FILE_SHAPES = ['native', 'compat_a', 'compat_b'] as const
/** The three forms of the file response (interface.md §2.3). */
export type FileShape = (typeof FILE_SHAPES)[number]

/** How to answer a client: in which form, and what it calls that form. */
export interface Dialect {
  shape: FileShape
  /** The value of `_shape`. */
  label: string
}

type RequestHeaders = Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'>

const COMPAT_A_HEADER = 'anthropic-version'
/** Both vendors' libraries send the last one; the first vendor's are recognised earlier, by a header of their own. */
const COMPAT_B_HEADERS = ['openai-organization', 'openai-project', 'openai-beta', 'x-stainless-lang']
const COMPAT_B_USER_AGENT = /^(Async)?OpenAI\//
/** Knows the forms by their vendors' names only, and takes any other for unknown. */
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
 * The dialect a client wants: the one it names, else the one its library understands, else native, in the words of
 * interface.md for everybody but the one library that does not know them.
 * @throws ServiceError invalid_file_shape
 */
export function chooseDialect(event: RequestHeaders): Dialect {
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
