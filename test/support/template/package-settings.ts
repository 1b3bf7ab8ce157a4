import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

// This runs in a copy of the project: it packages prod with each of the given sets of options, and writes the resources
// of the templates. With one process and existing zips, each takes a tenth of a second instead of some seconds.
const require = createRequire(import.meta.url)
const Serverless = require('serverless/lib/serverless')
const resolveInput = require('serverless/lib/cli/resolve-input')
const COMMAND = require.resolve('serverless/scripts/serverless')
const { run } = Serverless.prototype

const [artifacts = '', file = '', sets = ''] = process.argv.slice(2)
const templates: object[] = []
for (const options of JSON.parse(sets)) templates.push(await packageWith(options))
await writeFile(file, JSON.stringify(templates))

function useArtifacts(functions: Record<string, { package: { artifact: string } }>) {
  for (const [name, written] of Object.entries(functions)) written.package.artifact = join(artifacts, `${name}.zip`)
}

function packageWith(options: string[]): Promise<object> {
  process.argv.splice(2, Number.POSITIVE_INFINITY, 'package', '--stage', 'prod', ...options)
  process.removeAllListeners()
  resolveInput.clear()
  delete require.cache[COMMAND]
  return new Promise((resolve) => {
    Serverless.prototype.run = async function () {
      const { hooks } = this.pluginManager
      // Which functions there are depends on parameters, which are read late.
      hooks['before:package:cleanup'] = [{ hook: () => useArtifacts(this.service.functions) }]
      // Saving the service's state takes the longest, and nobody reads it.
      hooks['aws:package:finalize:saveServiceState'] = []
      await run.call(this)
      resolve(this.service.provider.compiledCloudFormationTemplate.Resources)
    }
    require(COMMAND)
  })
}
