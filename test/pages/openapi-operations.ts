import { type DocumentedOperation, OPENAPI } from '../support/api/openapi.ts'

interface Answer {
  $ref?: string
  content?: { 'application/json': { example?: unknown; examples?: Record<string, { value: unknown }> } }
}
interface OperationOfPage extends DocumentedOperation {
  operationId: string
  responses: Record<string, Answer>
}

/** All of docs/openapi.yaml. */
export const OPERATIONS_OF_PAGE: OperationOfPage[] = Object.entries<object>(OPENAPI.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, responses }]) => ({
    method: method as DocumentedOperation['method'],
    path,
    operationId,
    responses,
  })),
)

/** Bodies, by status; those that several operations share among them. */
export function examplesOf<Body>({ responses }: OperationOfPage): { status: string; body: Body }[] {
  return Object.entries(responses).flatMap(([status, answer]) => {
    const shared: Answer | undefined = OPENAPI.components.responses[answer.$ref?.split('/').at(-1) ?? '']
    const { example, examples = {} } = (shared ?? answer).content?.['application/json'] ?? {}
    const bodies = [example, ...Object.values(examples).map(({ value }) => value)]
    return bodies.filter((body) => body !== undefined).map((body) => ({ status, body: body as Body }))
  })
}

/** All objects of the page's examples, however deep, that have these members. */
export function shownWith<Shown>(...members: string[]): Shown[] {
  const within = (part: unknown): Shown[] => {
    if (typeof part !== 'object' || part === null) return []
    const own = members.every((member) => member in part) ? [part as Shown] : []
    return [...own, ...Object.values(part).flatMap(within)]
  }
  return OPERATIONS_OF_PAGE.flatMap(examplesOf).flatMap(({ body }) => within(body))
}
