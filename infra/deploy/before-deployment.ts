import { json } from 'node:stream/consumers'
import { examineAccount, type Intention } from './preflight.ts'

/** Run by the plugin before each deployment: an Intention on standard input, what is wrong on standard error. */
try {
  const { problems, warnings } = await examineAccount((await json(process.stdin)) as Intention)
  for (const warning of warnings) console.log(`Warning: ${warning}`)
  if (problems.length > 0)
    throw new Error(`This account is not ready for it (docs/operations.md):\n- ${problems.join('\n- ')}`)
} catch (error) {
  console.error(`${(error as Error).message}\nNothing was deployed.`)
  process.exitCode = 1
}
