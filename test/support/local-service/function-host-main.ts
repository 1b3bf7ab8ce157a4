import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { listen } from '../../../infra/local/listen.ts'
import { lambdaContext } from '../http/rest-event.ts'

/** The process that function-host.ts starts: Lambda's own API for the functions in dist/, all requests side by side. */
const DIST = join(import.meta.dirname, '../../../dist')
const PATH = /^\/2015-03-31\/functions\/container-file-promotion-local-([a-z-]+)\/invocations$/
/** Of serverless.yml. */
const TIMEOUT_MS = 28_000

const server = createServer(async (request, response) => {
  const [, name = ''] = PATH.exec(request.url ?? '') ?? []
  const context = { ...lambdaContext(TIMEOUT_MS), functionName: name }
  try {
    const { handler } = await import(join(DIST, `${name}.mjs`))
    response.end(JSON.stringify(await handler(await json(request), context)))
  } catch (error) {
    response.setHeader('x-amz-function-error', 'Unhandled')
    response.end(JSON.stringify({ errorMessage: String(error) }))
  }
})
process.send?.(await listen(server, 0))
process.once('disconnect', () => process.exit())
