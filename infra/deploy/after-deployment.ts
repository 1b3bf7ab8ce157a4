import { json } from 'node:stream/consumers'
import { type Protection, protectStack } from './protect.ts'

/** Run by the plugin after each deployment: a Protection on standard input, what failed on standard error. */
try {
  for (const change of await protectStack((await json(process.stdin)) as Protection)) console.log(change)
} catch (error) {
  console.error(
    `The stack is deployed, but it and its tables could not be protected from deletion: ${(error as Error).message}\nDeploy again when that is fixed; npm run admin -- --stage … doctor tells what is protected.`,
  )
  process.exitCode = 1
}
