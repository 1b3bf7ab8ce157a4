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

/** As the parameters are known here, conditions give way to their outcomes: the template reads and tests as it is. */
export function resolveConditions(template: Template): void {
  const holds = (name: string) => isTrue(template.Conditions?.[name])
  for (const section of ['Resources', 'Outputs'] as const) {
    const present = Object.entries(template[section]).flatMap(([id, { Condition, ...value }]) =>
      Condition === undefined || holds(Condition) ? [[id, value]] : [],
    )
    template[section] = resolve(Object.fromEntries(present), holds) as never
  }
  delete template.Conditions
}

function isTrue(condition: unknown): boolean {
  const [[operator, operands]] = Object.entries(condition as object) as [[string, unknown[]]]
  if (operator === 'Fn::Not') return !isTrue(operands[0])
  if (operator === 'Fn::And') return operands.every(isTrue)
  if (operator !== 'Fn::Equals') throw new Error(`A condition by ${operator} is not foreseen`)
  return String(operands[0]) === String(operands[1])
}

/** The value with each Fn::If replaced by its outcome, without whatever that leaves out. */
const resolve = (value: unknown, holds: (condition: string) => boolean) =>
  rewrite(value, (object) => {
    if ('Fn::If' in object) {
      const [condition, then, otherwise] = object['Fn::If'] as [string, unknown, unknown]
      return holds(condition) ? then : otherwise
    }
    const kept = Object.entries(object).filter(([, inner]) => !isNothing(inner))
    return Object.fromEntries(kept.map(([key, inner]) => [key, present(inner)]))
  })

const present = (value: unknown) => (Array.isArray(value) ? value.filter((each) => !isNothing(each)) : value)

const isNothing = (value: unknown) => isObject(value) && value.Ref === 'AWS::NoValue'
