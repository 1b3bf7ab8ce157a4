import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { buildFunctions } from '../bundle/build.ts'
import { type Deployment, problemsInDeployment } from './problems-in-deployment.ts'

/** Run by the plugin before packaging: a Deployment on standard input, what is wrong with it on standard error. */
const deployment = (await json(process.stdin)) as Deployment
const problems = problemsInDeployment(deployment)
if (problems.length > 0) {
  console.error(`These parameters cannot be deployed (docs/settings.md):\n- ${problems.join('\n- ')}`)
  process.exitCode = 1
} else if (process.env.PROMOTION_BUILD !== 'skip') {
  const root = join(import.meta.dirname, '../..')
  await buildFunctions({ root, outDir: join(root, 'dist') })
}
