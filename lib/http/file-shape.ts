import type { APIGatewayProxyEvent } from 'aws-lambda'
import { ServiceError } from '../errors.ts'
import { headerValue } from './request-headers.ts'

export const FILE_SHAPES = ['native', 'compat_a', 'compat_b'] as const
/** The three forms of the file response (interface.md §2.3). */
export type FileShape = (typeof FILE_SHAPES)[number]

const COMPAT_A_HEADER = 'anthropic-version'
const COMPAT_B_HEADERS = ['openai-organization', 'openai-project', 'openai-beta']
const COMPAT_B_USER_AGENT = /^(Async)?OpenAI\//

/** The request headers an answer depends on. Both vendors' libraries send x-stainless-*, so these tell nothing. */
export const VARY = [
  'File-Shape',
  'Anthropic-Version',
  'User-Agent',
  'OpenAI-Organization',
  'OpenAI-Project',
  'OpenAI-Beta',
].join(', ')

/**
 * The shape a client wants: the one it names, else the one its library understands, else native.
 * @throws ServiceError invalid_file_shape
 */
export function chooseFileShape(event: Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'>): FileShape {
  const wanted = headerValue(event, 'file-shape')
  if (wanted !== undefined) {
    const shape = FILE_SHAPES.find((each) => each === wanted.trim())
    if (shape === undefined) throw new ServiceError('invalid_file_shape')
    return shape
  }
  if (headerValue(event, COMPAT_A_HEADER) !== undefined) return 'compat_a'
  const isCompatB =
    COMPAT_B_USER_AGENT.test(headerValue(event, 'user-agent') ?? '') ||
    COMPAT_B_HEADERS.some((name) => headerValue(event, name) !== undefined)
  return isCompatB ? 'compat_b' : 'native'
}
