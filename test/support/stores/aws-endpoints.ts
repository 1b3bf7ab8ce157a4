import { createServer, type RequestListener, type Server } from 'node:http'
import { afterAll, inject } from 'vitest'
import { close, LOOPBACK, listen } from '../../../infra/local/loopback.ts'
import { CREDENTIALS } from './stand-ins.ts'

/** An address at which nothing answers. */
export const NOBODY = `http://${LOOPBACK}:1`

/** A process needs these in order to call AWS. */
export const CALLER = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
}

/** The environment of the command line, with S3 and DynamoDB at one place, or at one each. */
export const environmentOn = (dynamoDbEndpoint: string, s3Endpoint = dynamoDbEndpoint) => ({
  ...inject('definition').environment,
  ...CALLER,
  AWS_ENDPOINT_URL_DYNAMODB: dynamoDbEndpoint,
  AWS_ENDPOINT_URL_S3: s3Endpoint,
})

/** Servers that answer as they are told, until all tests of the file have run. @returns starts one; its URL */
export function useServers(): (answer: RequestListener) => Promise<string> {
  const servers: Server[] = []
  afterAll(() => Promise.all(servers.map((server) => close(server))))
  return async (answer) => {
    const server = createServer(answer)
    servers.push(server)
    return `http://${LOOPBACK}:${await listen(server, 0)}`
  }
}

/** Refuses everything, as IAM would, with a clock that is an hour behind. */
export const denyEverything: RequestListener = (request, response) => {
  const isDynamoDb = request.headers['x-amz-target'] !== undefined
  response.writeHead(isDynamoDb ? 400 : 403, {
    'content-type': isDynamoDb ? 'application/x-amz-json-1.0' : 'application/xml',
  })
  const message = 'User: arn:aws:iam::1:user/x is not authorized'
  const json = JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', Message: message })
  response.end(isDynamoDb ? json : `<Error><Code>AccessDenied</Code><Message>${message}</Message></Error>`)
}
