import type { Packaged, Resource } from './packages.ts'

/** The path of a resource of the REST API. */
export function pathOf(resourceId: string, service: Pick<Packaged, 'resource'>): string {
  const { ParentId, PathPart } = service.resource(resourceId).Properties
  return `${ParentId.Ref ? pathOf(ParentId.Ref, service) : ''}/${PathPart}`
}

/** Headers by their names alone, from what a method or a gateway response gives for parameters. */
export const headersOf = (parameters: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [`${name.split('.').at(-1)}`, value.replace(/^'|'$/g, '')]),
  )

/** The methods that functions answer, each with its path. */
export const operationsOf = (service: Packaged): Resource['Properties'][] =>
  service
    .propertiesOf('AWS::ApiGateway::Method')
    .filter(({ Integration }) => Integration.Type === 'AWS_PROXY')
    .map((method) => ({ ...method, path: pathOf(method.ResourceId.Ref, service) }))
