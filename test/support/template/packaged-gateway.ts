import type { Packaged, Resource } from './packages.ts'

/** The path of a resource of the REST API. */
export function pathOf(resourceId: string, service: Pick<Packaged, 'resource'>): string {
  const { ParentId, PathPart } = service.resource(resourceId).Properties
  return `${ParentId.Ref ? pathOf(ParentId.Ref, service) : ''}/${PathPart}`
}

/** The methods that functions answer. */
export const operationsOf = (service: Packaged): Resource[] =>
  service.ofType('AWS::ApiGateway::Method').filter(({ Properties }) => Properties.Integration.Type === 'AWS_PROXY')
