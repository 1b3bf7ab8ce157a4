export interface Resource {
  Type: string
  Condition?: string
  DependsOn?: string | string[]
  DeletionPolicy?: string
  UpdateReplacePolicy?: string
  // biome-ignore lint/suspicious/noExplicitAny: CloudFormation's properties have no one type
  Properties: any
}

export interface Template {
  Conditions?: Record<string, unknown>
  Resources: Record<string, Resource>
  Outputs: Record<string, { Condition?: string; Value: unknown }>
}

export const ofType = ({ Resources }: Template, type: string): [id: string, resource: Resource][] =>
  Object.entries(Resources).filter(([, { Type }]) => Type === type)

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** A copy of a value in which each object is what `change` makes of it, from the innermost outwards. */
export function rewrite(value: unknown, change: (object: Record<string, unknown>) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => rewrite(each, change))
  if (!isObject(value)) return value
  return change(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rewrite(inner, change)])))
}
