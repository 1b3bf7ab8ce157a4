import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { KeptRecords } from '../../events/ports.ts'
import { CLOSING, send } from '../calls/send.ts'

/** SQS, SendMessage: of all characters that JSON has as they are, it refuses these. */
const NOT_TAKEN = /[\ufffe\uffff]/g
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16)}`

/** In the queue. Each message is a valid event for the function: invoked with it, it tries to put the record again. */
export function createKeptRecords(settings: { client: SQSClient; eventsQueueUrl: string }): KeptRecords {
  const { client, eventsQueueUrl: QueueUrl } = settings
  return {
    async keep(record, reason, signal) {
      const MessageBody = JSON.stringify({ reason, Records: [record] }).replace(NOT_TAKEN, escaped)
      await send(client, new SendMessageCommand({ QueueUrl, MessageBody }), { name: 'SendMessage', signal, ...CLOSING })
    },
  }
}
