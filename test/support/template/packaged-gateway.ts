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

/** The methods that functions answer. */
export const operationsOf = (service: Packaged): Resource[] =>
  service.ofType('AWS::ApiGateway::Method').filter(({ Properties }) => Properties.Integration.Type === 'AWS_PROXY')
