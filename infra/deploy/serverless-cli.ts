import { fileURLToPath } from 'node:url'

/** The Serverless Framework's command, to be run by the Node.js that runs this. */
export const SERVERLESS_CLI = fileURLToPath(import.meta.resolve('serverless/bin/serverless.js'))
