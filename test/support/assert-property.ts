import fc from 'fast-check'

/** A shorter failure is worth this long: to look for the shortest may take hours, or for ever, if one case hangs. */
const SHRINK_MS = 10_000

/**
 * fc.assert, which is used nowhere else. A failure is shrunk for some seconds.
 * @throws Error with the case, its seed and path: `REPEAT='{"seed":1,"path":"2:3"}'` begins with it
 */
export async function assertProperty<Values>(
  property: fc.IRawProperty<Values>,
  parameters: fc.Parameters<Values> = {},
): Promise<void> {
  const given = { ...parameters, ...JSON.parse(process.env.REPEAT ?? '{}') }
  const found = await fc.check(property, { ...given, endOnFailure: true })
  if (!found.failed) return
  const { seed, counterexamplePath: path } = found
  const limits = { interruptAfterTimeLimit: SHRINK_MS, markInterruptAsFailure: true }
  const shrunk = await fc.check(property, { ...given, ...limits, seed, path: path ?? '' })
  const shortest = shrunk.counterexample === null ? found : shrunk
  const { errorInstance: cause } = shortest
  throw new Error(`${await fc.asyncDefaultReportMessage(shortest)}\n${cause instanceof Error ? cause.stack : cause}`, {
    cause,
  })
}
