type Values = Readonly<Record<string, unknown>>

/** An error of the engine itself, with the name by which a definition catches it. */
export function stateMachineError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name })
}

/**
 * The value at a path: `$` and `$$` with names after dots, nothing else of JSONPath.
 * @throws Error when there is none
 */
export function at(path: string, data: unknown, context: object): unknown {
  if (!/^\$\$?(\.\w+)*$/.test(path)) throw stateMachineError('States.Runtime', `the path ${path} is not known`)
  const [root, ...names] = path.split('.')
  return names.reduce<unknown>(
    (value, name) => {
      const inner = (value as Values | null | undefined)?.[name]
      if (inner === undefined) throw stateMachineError('States.Runtime', `there is nothing at ${path}`)
      return inner
    },
    root === '$$' ? context : data,
  )
}

/** A template of parameters: members whose name ends in `.$` are paths. */
export function fill(template: unknown, data: unknown, context: object): unknown {
  if (typeof template !== 'object' || template === null || Array.isArray(template)) return template
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) =>
      name.endsWith('.$') ? [name.slice(0, -2), at(String(value), data, context)] : [name, fill(value, data, context)],
    ),
  )
}

/** The input of a state with its result put where ResultPath says: instead of it, under a name of it, or nowhere (null). */
export function put(input: unknown, path: string | null | undefined, result: unknown): unknown {
  if (path === null) return input
  if (path === undefined || path === '$') return result
  const [, name] = /^\$\.(\w+)$/.exec(path) ?? []
  if (name === undefined) throw stateMachineError('States.ResultPathMatchFailure', `the path ${path} is not known`)
  return { ...(input as object), [name]: result }
}
