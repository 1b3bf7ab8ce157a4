/** An operation of the API: what serverless.yml says of a function's http event. */
export interface Route {
  /** In capitals. */
  method: string
  /** With a slash at the beginning; parameters in braces. */
  resource: string
  /** As it is deployed. */
  functionName: string
}

export type Match =
  | { outcome: 'found'; route: Route; pathParameters: Record<string, string> }
  /** A path of the API with a method that it lacks. */
  | { outcome: 'wrong_method'; allowed: string[] }
  | { outcome: 'unknown_path' }

/**
 * Finds the operation of a request as a REST API does: segment by segment, by bytes, with nothing decoded. A fixed
 * segment takes precedence over a parameter.
 * @param path as it came, without the query
 */
export function matchRoute(routes: readonly Route[], method: string, path: string): Match {
  const onPath = routes
    .map((route) => ({ route, pathParameters: matchPath(route.resource, path) }))
    .filter((each) => each.pathParameters !== undefined)
    .toSorted((a, b) => fixedness(b.route.resource).localeCompare(fixedness(a.route.resource)))
  const [best] = onPath
  if (best === undefined) return { outcome: 'unknown_path' }
  const onResource = onPath.filter(({ route }) => route.resource === best.route.resource)
  const found = onResource.find(({ route }) => route.method === method || route.method === 'ANY')
  if (found === undefined) {
    return { outcome: 'wrong_method', allowed: onResource.map(({ route }) => route.method).toSorted() }
  }
  return { outcome: 'found', route: found.route, pathParameters: found.pathParameters ?? {} }
}

/** @returns the parameters, encoded as they came; undefined when it is another path */
function matchPath(resource: string, path: string): Record<string, string> | undefined {
  const [pattern, segments] = [resource.split('/'), path.split('/')]
  if (pattern.length !== segments.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? ''
    const name = /^\{(.+)\}$/.exec(part)?.[1]
    if (name === undefined ? part !== segment : segment === '') return undefined
    if (name !== undefined) parameters[name] = segment
  }
  return parameters
}

/** Sorts by the position of the first parameter. */
function fixedness(resource: string): string {
  return resource
    .split('/')
    .map((part) => (part.startsWith('{') ? '0' : '1'))
    .join('')
}
