import { type FunctionHost, type FunctionHostOptions, startFunctionHost } from './function-host.ts'

export interface RestartableHost {
  /** Port of Lambda's own API; while the host restarts, it resolves when that is done. */
  lambdaPort(): Promise<number>
  /** Resolves when the host ended by itself. */
  failed: Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A function host whose process can be replaced by one that loads the functions anew. */
export async function startRestartableHost(options: FunctionHostOptions): Promise<RestartableHost> {
  const failure = Promise.withResolvers<void>()
  const start = async (): Promise<FunctionHost> => {
    const host = await startFunctionHost(options)
    void host.failed.then(failure.resolve)
    return host
  }
  let current = start()
  await current

  return {
    failed: failure.promise,
    lambdaPort: async () => (await current).lambdaPort,
    restart: async () => {
      // A host that failed to start needs no stopping.
      const before = current.catch(() => undefined)
      current = before.then(async (host) => {
        await host?.stop()
        return start()
      })
      await current
    },
    stop: async () => {
      const host = await current.catch(() => undefined)
      await host?.stop()
    },
  }
}
