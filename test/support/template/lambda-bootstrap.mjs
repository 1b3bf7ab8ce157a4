// The child's side of lambda-runtime.ts: loads the handler, hands it one event after the other.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

const [handlerName, timeoutSeconds] = process.argv.slice(2)
const [module, exported] = handlerName.split('.')
const { [exported]: handler } = await import(join(process.cwd(), `${module}.mjs`))

process.on('message', async ({ id, event }) => {
  const endMs = performance.now() + Number(timeoutSeconds) * 1000
  const context = {
    awsRequestId: randomUUID(),
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(endMs - performance.now())),
  }
  try {
    process.send({ id, result: await handler(event, context) })
  } catch (error) {
    process.send({ id, error: String(error?.message ?? error) })
  }
})
// Without its parent nothing could stop it.
process.once('disconnect', () => process.exit())
