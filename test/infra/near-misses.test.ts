import { render } from 'velocityjs'
import { beforeAll, describe, expect, it } from 'vitest'
import { unknownPathBody } from '../../infra/deploy/gateway-texts.mjs'
import { detailOf, FAR_MISSES, NEAR_MISSES } from '../support/http/near-misses.ts'
import { expectDocumented, OPENAPI } from '../support/http/openapi.ts'
import { PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from '../support/package/packages.ts'

const ROUTES = Object.entries<object>(OPENAPI.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase(), resource: `/v1${path}` })),
)

let dev: Packaged
beforeAll(async () => {
  dev = await packagedService('dev')
}, PACKAGING_TIMEOUT_MS)

/** The answer's template of what the stack deploys for unknown paths, carried out as API Gateway does, with Java's strings. */
function answerOfTemplate(path: string): string {
  const method = dev.resource('ApiGatewayResourceUnknownPathAny').Properties
  const template = method.Integration.IntegrationResponses[0].ResponseTemplates['application/json']
  const params = (name: string) => (name === 'proxy' ? path.slice(1) : '')
  return withJavaStrings(() => render(template, { input: { params } }))
}

function withJavaStrings<T>(work: () => T): T {
  const strings = String.prototype as { matches?: (pattern: string) => boolean }
  strings.matches = function (this: string, pattern) {
    return new RegExp(`^(?:${pattern})$`).test(this)
  }
  try {
    return work()
  } finally {
    delete strings.matches
  }
}

describe('a path that the API does not have', () => {
  it.each(NEAR_MISSES)('$what: names what was probably meant, and the fault', (miss) => {
    const answer = answerOfTemplate(miss.path)
    const body = JSON.parse(answer)
    expect(body.error.metadata).toEqual({ reason: 'route_not_found', detail: detailOf(miss) })
    expectDocumented({ status: 404, headers: { 'x-request-id': 'x', 'cache-control': 'no-store' }, body })
    expect(unknownPathBody(miss.path, ROUTES), 'the local gateway says the same').toBe(answer)
  })

  it.each(FAR_MISSES)('%s: names all operations, and nothing of the path', (path) => {
    const answer = answerOfTemplate(path)
    const { reason, detail } = JSON.parse(answer).error.metadata
    expect(reason).toBe('route_not_found')
    expect(detail).toContain(
      'The API has no such operation. It has: DELETE /v1/files/{document_id}, GET /v1/containers/',
    )
    expect(unknownPathBody(path, ROUTES)).toBe(answer)
  })

  it('is answered by the gateway without a function, whatever its method and media type', () => {
    const { PathPart, ParentId } = dev.resource('ApiGatewayResourceUnknownPath').Properties
    expect([PathPart, ParentId]).toEqual(['{proxy+}', { 'Fn::GetAtt': ['ApiGatewayRestApi', 'RootResourceId'] }])
    const { HttpMethod, Integration } = dev.resource('ApiGatewayResourceUnknownPathAny').Properties
    expect([HttpMethod, Integration.Type]).toEqual(['ANY', 'MOCK'])
    const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']
    expect(Object.keys(Integration.RequestTemplates)).toEqual(expect.arrayContaining(types))
  })
})
