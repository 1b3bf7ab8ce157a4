import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'

/** A shorter failure is worth this long: to look for the shortest may take hours, or for ever, if one case hangs. */
const SHRINK_MS = 10_000

/**
 * fc.assert, which is used nowhere else. A failure is shrunk for some seconds.
 * @throws Error with the case, its seed and path: `REPEAT='{"seed":1,"path":"2:3"}'` begins with it
 */
export async function assertProperty<Values>(
  given: fc.IRawProperty<Values>,
  parameters: fc.Parameters<Values> = {},
): Promise<void> {
  const property = given.isAsync() ? withTurns(given) : given
  const repeated = { ...parameters, ...JSON.parse(process.env.REPEAT ?? '{}') }
  const found = await fc.check(property, { ...repeated, endOnFailure: true })
  if (!found.failed) return
  const { seed, counterexamplePath: path } = found
  const limits = { interruptAfterTimeLimit: SHRINK_MS, markInterruptAsFailure: true }
  const shrunk = await fc.check(property, { ...repeated, ...limits, seed, path: path ?? '' })
  const shortest = shrunk.counterexample === null ? found : shrunk
  const { errorInstance: cause } = shortest
  throw new Error(`${await fc.asyncDefaultReportMessage(shortest)}\n${cause instanceof Error ? cause.stack : cause}`, {
    cause,
  })
}

/** The event loop turns before each case, so that time limits hold in cases that wait for nothing but promises. */
function withTurns<Values>(property: fc.IRawProperty<Values>): fc.IRawProperty<Values> {
  const run = async (values: Values) => {
    await setImmediate()
    return property.run(values)
  }
  return Object.assign(Object.create(property), { run })
}
