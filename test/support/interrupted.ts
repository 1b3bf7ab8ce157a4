/**
 * The same ports for a process that is held up once, before its call of the given number, while something else happens.
 * A process held up after a call, before it learns the answer, is one held up before the next.
 *
 * @param at from 0
 */
export function interruptedAt<Deps extends object>(
  at: number,
  deps: Deps,
  meanwhile: () => Promise<unknown>,
): { deps: Deps; calls(): number } {
  let calls = 0
  const arrive = async () => {
    if (calls++ === at) await meanwhile()
  }
  const interrupted = (store: object) =>
    new Proxy(store, {
      get(target, name) {
        const method = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        if (String(name).startsWith('list')) {
          return async function* (...args: unknown[]) {
            await arrive()
            yield* Reflect.apply(method, target, args) as AsyncIterable<unknown>
          }
        }
        return async (...args: unknown[]) => {
          await arrive()
          return Reflect.apply(method, target, args)
        }
      },
    })
  const PORTS = new Set(['quota', 'workspaces', 'reservations', 'documents', 'objects'])
  const entries = Object.entries(deps).map(([name, port]) => [name, PORTS.has(name) ? interrupted(port) : port])
  return { deps: Object.fromEntries(entries) as Deps, calls: () => calls }
}
