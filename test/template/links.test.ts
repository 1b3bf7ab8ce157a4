import { expect, it } from 'vitest'
import { textOf } from '../support/template/intrinsics.ts'
import { packagedServices } from '../support/template/packages.ts'

const [dev, prod, existing] = await packagedServices('dev', 'prod', 'existing')

it('addresses of links are those of the API without /v1, and last as the setting says', () => {
  const variables = (service: typeof prod) =>
    service.resource('ReadDocumentsLambdaFunction').Properties.Environment.Variables
  const { LINKS_URL, LINK_DAYS } = variables(prod)
  const own = 'https://<ApiGatewayRestApi>.execute-api.<AWS::Region>.<AWS::URLSuffix>/prod/l'
  expect([textOf(LINKS_URL), LINK_DAYS]).toEqual([own, '7'])
  expect(variables(existing).LINKS_URL).toBe('https://files.example.com/l')
  expect(Object.keys(variables(dev)).filter((name) => name.startsWith('LINK'))).toEqual([])
})

it('X-Ray samples no link, before one can be opened', () => {
  const { SamplingRule } = prod.resource('LinksAreNotTraced').Properties
  expect(SamplingRule).toMatchObject({ URLPath: '*/l/*', FixedRate: 0, ReservoirSize: 0, Priority: 1, Version: 1 })
  expect(SamplingRule.ServiceName).toBe('container-file-promotion-prod/prod')
  expect(prod.resource('GatewayStage').DependsOn).toContain('LinksAreNotTraced')
})

it('only what links have ends by the TTL of the table of keys', () => {
  const { TimeToLiveSpecification } = dev.resource('KeysTable').Properties
  expect(TimeToLiveSpecification).toEqual({ AttributeName: 'ttl_at', Enabled: true })
})
