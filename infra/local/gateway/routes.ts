import type { Route } from '../../deploy/service-definition.ts'

/**
 * As a REST API does: by bytes, nothing decoded, a fixed segment before a parameter, with or without a slash at the end.
 * @param path without the query
 */
export function matchRoute(routes: readonly Route[], method: string, path: string) {
  // "{" comes after every letter and digit.
  const onPath = routes
    .map((route) => ({ route, pathParameters: matchPath(route.resource, path) }))
    .filter((each) => each.pathParameters !== undefined)
    .toSorted((a, b) => (a.route.resource < b.route.resource ? -1 : Number(a.route.resource > b.route.resource)))
  const [best] = onPath
  if (best === undefined) return { outcome: 'unknown_path' } as const
  const onResource = onPath.filter(({ route }) => route.resource === best.route.resource)
  const found = onResource.find(({ route }) => route.method === method)
  const allowed = onResource.map(({ route }) => route.method).toSorted()
  if (found === undefined) return { outcome: 'wrong_method', allowed } as const
  return { outcome: 'found', route: found.route, pathParameters: found.pathParameters ?? {} } as const
}

/** @returns the parameters, encoded as they came; undefined when it is another path */
function matchPath(resource: string, path: string): Record<string, string> | undefined {
  const match = new RegExp(`^${resource.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}/?$`, 's').exec(path)
  return match ? { ...match.groups } : undefined
}
