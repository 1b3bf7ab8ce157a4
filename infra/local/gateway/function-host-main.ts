import { randomUUID } from 'node:crypto'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from 'aws-lambda'
import type { FunctionDefinition } from '../../deploy/service-definition.ts'
import type { AnswerMessage, InvocationMessage } from './function-host.ts'

/** The process that function-host.ts starts. It runs all invocations at once; Lambda would use a process for each. */
type Handler = (event: unknown, context: Context) => Promise<unknown>

const [, , root = '', functions = ''] = process.argv
const definitions: FunctionDefinition[] = JSON.parse(functions)

async function invoke({ id, functionName, event }: InvocationMessage): Promise<AnswerMessage> {
  const definition = definitions.find(({ name }) => name === functionName)
  if (definition === undefined) return { id, error: `There is no function ${functionName}.` }
  const overdue = new AbortController()
  try {
    const handler = await load(definition)
    const endsAtMs = Date.now() + definition.timeoutMs
    const getRemainingTimeInMillis = () => endsAtMs - Date.now()
    const context = { functionName, awsRequestId: randomUUID(), getRemainingTimeInMillis } as Context
    const timeout = sleep(definition.timeoutMs, undefined, { signal: overdue.signal }).then(() => {
      throw new Error(`Task timed out after ${definition.timeoutMs / 1000} seconds`)
    })
    return { id, result: await Promise.race([handler(event, context), timeout]) }
  } catch (error) {
    console.error(error)
    return { id, error: String(error) }
  } finally {
    overdue.abort()
  }
}

async function load({ handler }: FunctionDefinition): Promise<Handler> {
  const [, file, exported = ''] = /^(.*)\.(\w+)$/.exec(handler) ?? []
  const functions = await import(join(root, `${file}.mjs`))
  // A process that is killed keeps nothing for the next one by itself.
  flushCompileCache()
  return functions[exported]
}

process.on('message', async (message: InvocationMessage) => process.send?.(await invoke(message)))
process.once('disconnect', () => process.exit())
process.send?.('ready')
