/** A thread of its own: here nothing has changed how dynalite parses (parse-once.ts). */
import { parentPort } from 'node:worker_threads'
import { startDynamoDb } from '../../../infra/local/stores/dynamodb.ts'

const { endpoint } = await startDynamoDb({ directory: undefined })
parentPort?.postMessage(endpoint)
