import { AsyncLocalStorage } from 'node:async_hooks'

const environments = new AsyncLocalStorage<NodeJS.ProcessEnv>()
const ofProcess = process.env

/** Code that runs with an environment of its own finds it in process.env, even while other code has another one. */
process.env = new Proxy(ofProcess, {
  get: (_, name: string) => here()[name],
  set: (_, name: string, value: string) => Reflect.set(here(), name, value),
  has: (_, name) => name in here(),
  deleteProperty: (_, name) => Reflect.deleteProperty(here(), name),
  ownKeys: () => Reflect.ownKeys(here()),
  getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(here(), name),
})

function here(): NodeJS.ProcessEnv {
  return environments.getStore() ?? ofProcess
}

/** Does some work as a process with this environment would. */
export function withEnvironment<Result>(environment: NodeJS.ProcessEnv, work: () => Result): Result {
  const given = Object.entries(environment).filter(([, value]) => value !== undefined)
  return environments.run(Object.fromEntries(given), work)
}
