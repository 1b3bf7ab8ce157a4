import { expect, it, onTestFinished } from 'vitest'
import { readServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { type ServedRequest, startGateway } from '../../../infra/local/gateway/gateway.ts'

it('tells of every request but the looks of the page, unless one fails', async () => {
  const told: ServedRequest[] = []
  let statusCode = 200
  const gateway = await startGateway({
    ...readServiceDefinition(),
    port: 0,
    corsAllowedOrigins: [],
    invoke: async () => ({ statusCode, headers: {}, body: '{}' }),
    onRequest: (request) => told.push(request),
  })
  onTestFinished(gateway.stop)
  const get = (headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${gateway.port}/v1/files`, { headers }).then((answer) => answer.text())

  await get({ 'page-look': '1' })
  expect(told).toEqual([])
  await get({})
  statusCode = 503
  await get({ 'page-look': '1' })
  expect(told.map(({ path, status }) => [path, status])).toEqual([
    ['/v1/files', 200],
    ['/v1/files', 503],
  ])
})
