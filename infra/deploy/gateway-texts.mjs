// What the gateway says about operations, for the template that is deployed and for the local gateway alike.

/** Stands in a gateway response for the list of the API's operations. */
const OPERATIONS = '{operations}'

/**
 * @param {string} text of a gateway response
 * @param {readonly { method: string, resource: string }[]} routes
 */
export function nameOperations(text, routes) {
  const names = routes.map(({ method, resource }) => `${method} ${resource}`)
  return text.replace(OPERATIONS, names.toSorted().join(', '))
}

const WRONG_METHOD = 'The path is right, the method is not: the Allow header lists the allowed ones.'

/** The body of the answer to a method that a path does not have. 405 is no status of the interface. */
export const WRONG_METHOD_BODY = JSON.stringify({
  error: { code: 404, message: 'Resource not found', metadata: { reason: 'method_not_allowed', detail: WRONG_METHOD } },
  service_metadata: { request_id: '$context.requestId' },
  user_id: null,
})
