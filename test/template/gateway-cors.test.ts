import { describe, expect, it } from 'vitest'
import { EXPOSED_HEADERS } from '../../lib/http/headers.ts'
import { OPENAPI } from '../support/api/openapi.ts'
import { headersOf, pathOf } from '../support/template/packaged-gateway.ts'
import { type Packaged, packagedServices } from '../support/template/packages.ts'

const [dev, existing] = await packagedServices('dev', 'existing')

describe('CORS', () => {
  const methodsOf = (service: Packaged, method: string) =>
    service.ofType('AWS::ApiGateway::Method').filter(({ Properties }) => Properties.HttpMethod === method)

  it('is not there unless origins are named', () => {
    expect(methodsOf(dev, 'OPTIONS')).toEqual([])
    expect(JSON.stringify(dev.resources)).not.toMatch(/access-control/i)
  })

  it('has preflights answered by the gateway, on every path, for the origins that were named', () => {
    const preflights = methodsOf(existing, 'OPTIONS')
    const methodsByPath: Record<string, unknown> = {}
    for (const { Properties } of preflights) {
      expect(Properties.Integration).toMatchObject({
        Type: 'MOCK',
        RequestTemplates: { 'application/json': '{"statusCode":204}' },
      })
      const [answer] = Properties.Integration.IntegrationResponses
      const headers = headersOf(answer.ResponseParameters)
      expect(headers.vary).toBe('Origin')
      methodsByPath[pathOf(Properties.ResourceId.Ref, existing)] = headers['access-control-allow-methods']
      expect(Object.keys(Properties.MethodResponses[0].ResponseParameters)).toEqual(
        Object.keys(answer.ResponseParameters),
      )
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
    const own = existing
      .ofType('AWS::ApiGateway::GatewayResponse')
      .map(({ Properties }) => Properties.ResponseParameters)
    const other = methodsOf(existing, 'ANY').map(
      ({ Properties }) => Properties.Integration.IntegrationResponses[0].ResponseParameters,
    )
    expect(other.length).toBeGreaterThan(0)
    for (const headers of [...own, ...other]) {
      expect(headersOf(headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': EXPOSED_HEADERS,
      })
    }
  })
})
