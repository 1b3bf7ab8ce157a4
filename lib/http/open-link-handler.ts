import middy from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { readLinkToken } from '../auth/link-token.ts'
import { type OpenLinkDependencies, openLink } from '../documents/open-link.ts'
import type { Log } from '../logging.ts'
import type { Metrics } from '../metrics.ts'
import { redirectTo } from './answers.ts'
import { headerValue } from './headers.ts'
import { answerErrors } from './middleware/answer-errors.ts'
import { reportOutcome } from './middleware/report-outcome.ts'
import { startRequest } from './middleware/start-request.ts'
import type { ApiEvent, ApiMiddleware } from './request-state.ts'

/** What needs no key. A link may be opened any number of times: programs look at what people send each other. */
export function createOpenLinkHandler(deps: OpenLinkDependencies & { log: Log; metrics: Metrics }) {
  const nameOf = ({ httpMethod }: ApiEvent) => (httpMethod === 'HEAD' ? 'describe_link' : 'open_link')

  const handle = async ({ httpMethod, pathParameters, state }: ApiEvent): Promise<APIGatewayProxyResult> => {
    const { deadline, log, telemetry } = state
    const token = pathParameters?.token ?? ''
    telemetry.annotate({ link_id: readLinkToken(token)?.linkId })
    const { document, contentType, download } = await openLink({ token, log }, deps, deadline.signal)
    const { workspaceId: workspace_id, documentId: document_id, sizeBytes: size_bytes } = document
    telemetry.annotate({ workspace_id, document_id, size_bytes })
    if (httpMethod !== 'HEAD') return redirectTo(download)
    return { statusCode: 200, headers: { 'content-type': contentType, 'content-length': `${size_bytes}` }, body: '' }
  }

  return middy<ApiEvent, APIGatewayProxyResult>({ timeoutEarlyInMillis: 0 })
    .use(startRequest({ ...deps, nameOf }))
    .use(reportOutcome(deps))
    .use(answerPeople())
    .use(answerErrors())
    .handler(handle)
}

/** A browser gets a sentence in place of the error body. Search engines are to leave all answers alone. */
function answerPeople(): ApiMiddleware {
  const close: ApiMiddleware['after'] = ({ event, response }) => {
    if (!response) return
    const { failure } = event.state
    const isPage = failure !== undefined && headerValue(event, 'Accept')?.includes('text/html')
    response.headers = {
      ...response.headers,
      'x-robots-tag': 'noindex',
      vary: 'Accept',
      ...(isPage && { 'content-type': 'text/html; charset=utf-8' }),
    }
    if (isPage) response.body = pageOf(failure.detail)
  }
  return { after: close, onError: close }
}

/** @param sentence one of ours: nothing that a caller has sent */
const pageOf = (sentence: string) =>
  `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Link</title><p>${sentence}`
