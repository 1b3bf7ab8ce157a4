// What the gateway says about operations, for the template that is deployed and for the local gateway alike.

import { describeNearMiss, nearMissTemplate, READ_PATH } from './near-misses.mjs'

/** Stands in a gateway response for the list of the API's operations. */
const OPERATIONS = '{operations}'

const NOTHING_NEAR = `The API has no such operation. It has: ${OPERATIONS}.`

/**
 * @param {string} text of a gateway response
 * @param {readonly { method: string, resource: string }[]} routes
 */
export function nameOperations(text, routes) {
  const names = routes.map(({ method, resource }) => `${method} ${resource}`)
  return text.replace(OPERATIONS, names.toSorted().join(', '))
}

/** The body of the answer to a method that a path does not have. 405 is no status of the interface. */
export const WRONG_METHOD_BODY = notFoundBody(
  'method_not_allowed',
  'The path is right, the method is not: the Allow header lists the allowed ones.',
)

/**
 * The body of the answer to a path that the API does not have.
 * @param {string} path
 * @param {readonly { method: string, resource: string }[]} routes
 */
export function unknownPathBody(path, routes) {
  return notFoundBody('route_not_found', describeNearMiss(path, routes) ?? nameOperations(NOTHING_NEAR, routes))
}

/** The same as a mapping template of API Gateway. */
export function unknownPathTemplate(routes) {
  const detail = nearMissTemplate(routes, nameOperations(NOTHING_NEAR, routes))
  return `${READ_PATH}${notFoundBody('route_not_found', '{detail}').replace('{detail}', () => detail)}`
}

function notFoundBody(reason, detail) {
  return JSON.stringify({
    error: { code: 404, message: 'Resource not found', metadata: { reason, detail } },
    service_metadata: { request_id: '$context.requestId' },
    user_id: null,
  })
}
