import { describe, expect, it } from 'vitest'
import { EXPOSED_HEADERS } from '../../lib/http/headers.ts'
import { OPENAPI } from '../support/api/openapi.ts'
import { headersOf, pathOf } from '../support/template/packaged-gateway.ts'
import { type Packaged, packagedServices } from '../support/template/packages.ts'

const [dev, existing] = await packagedServices('dev', 'existing')

describe('CORS', () => {
  const methodsOf = (service: Packaged, method: string) =>
    service.propertiesOf('AWS::ApiGateway::Method').filter(({ HttpMethod }) => HttpMethod === method)

  it('is not there unless origins are named', () => {
    expect(methodsOf(dev, 'OPTIONS')).toEqual([])
    expect(JSON.stringify(dev.resources)).not.toMatch(/access-control/i)
  })

  it('has preflights answered by the gateway, on every path, for the origins that were named', () => {
    const methodsByPath: Record<string, unknown> = {}
    for (const { Integration, MethodResponses, ResourceId } of methodsOf(existing, 'OPTIONS')) {
      const RequestTemplates = { 'application/json': '{"statusCode":204}' }
      expect(Integration).toMatchObject({ Type: 'MOCK', RequestTemplates })
      const [answer] = Integration.IntegrationResponses
      const headers = headersOf(answer.ResponseParameters)
      expect(headers.vary).toBe('Origin')
      methodsByPath[pathOf(ResourceId.Ref, existing)] = headers['access-control-allow-methods']
      const declared = MethodResponses[0].ResponseParameters
      expect(Object.keys(declared)).toEqual(Object.keys(answer.ResponseParameters))
      const template = answer.ResponseTemplates['application/json']
      expect(template).toContain('#if($origin == "https://app.example.com" || $origin == "http://localhost:5173")')
    }
    const documented = Object.entries<object>(OPENAPI.paths).map(([path, methods]) => {
      // HEAD has no body to describe.
      if (path === '/l/{token}') return [path, 'GET, HEAD']
      return [`/v1${path}`, Object.keys(methods).toSorted().join(', ').toUpperCase()]
    })
    expect(methodsByPath).toEqual(Object.fromEntries(documented))
  })

  it("lets pages read the gateway's own answers, and the headers that carry meaning", () => {
    const own = existing.propertiesOf('AWS::ApiGateway::GatewayResponse')
    const other = methodsOf(existing, 'ANY').map(({ Integration }) => Integration.IntegrationResponses[0])
    expect(other.length).toBeGreaterThan(0)
    for (const { ResponseParameters } of [...own, ...other]) {
      expect(headersOf(ResponseParameters)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': EXPOSED_HEADERS,
      })
    }
  })
})
