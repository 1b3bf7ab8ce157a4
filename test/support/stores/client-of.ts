import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { openStores, type StoreSettings } from '../../../lib/aws/stores.ts'
import { CONFIG } from '../dynamodb/memory-tables.ts'
import { LEDGER_SETTINGS } from './ledger-values.ts'
import { COPY_SETTINGS } from './memory-objects.ts'

interface SentCommand {
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: of any command
  input: any
  /** The client was given these besides the command. */
  options: object
}

// biome-ignore lint/suspicious/noExplicitAny: as above
type Answer = (input: any, options: any) => object | Error | undefined | Promise<object>

export const conditionFailed = (Item?: object) =>
  new ConditionalCheckFailedException({ $metadata: {}, message: 'no', Item } as never)

/** An error of AWS, new for each call: the product says in it which call it was. */
export function refused(status = 405, name = 'AccessDeniedException'): Error {
  return Object.assign(new Error('refused'), { name, $metadata: { httpStatusCode: status } })
}

/** A client of AWS without a network that answers these commands, by name, and refuses all others. */
export function clientOf(answers: Record<string, Answer> = {}) {
  const sent: SentCommand[] = []
  const send = async (command: object, options: object) => {
    const name = command.constructor.name
    const { input } = command as { input: object }
    sent.push({ name, input, options })
    const answer = (await answers[name]?.(input, options)) ?? refused()
    if (answer instanceof Error) throw answer
    return { $metadata: {}, ...answer }
  }
  return { client: { send } as never, sent, names: () => sent.map(({ name }) => name) }
}

/** All adapters on such a client. */
export function storesOn(answers?: Record<string, Answer>, change: Partial<StoreSettings> = {}) {
  const { client, sent, names } = clientOf(answers)
  const config = { ...CONFIG, ...COPY_SETTINGS, ...LEDGER_SETTINGS }
  const stores = openStores({ config, dynamoDb: client, s3: client, now: LEDGER_SETTINGS.now, ...change })
  return { ...stores, sent, names }
}
