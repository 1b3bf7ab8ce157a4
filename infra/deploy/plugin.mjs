import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expandApiFunctions } from './api-functions.mjs'
import { readOrigins } from './cors-texts.mjs'
import { finishTemplate } from './finish-template.mjs'
import { settleConditions } from './settle-conditions.mjs'

/**
 * Serverless plugin, plain JavaScript because the framework loads it with whatever Node.js runs the framework. It checks
 * the parameters and builds dist/ before packaging, and completes the template after it.
 */
export default class PromotionDeployment {
  constructor(serverless, options) {
    const { service } = serverless
    this.hooks = {
      'before:package:initialize': async () => {
        const stage = serverless.getProvider('aws').getStage()
        const faults = await prepare({
          stage,
          region: serverless.getProvider('aws').getRegion(),
          settings: service.custom.settings,
          environment: service.provider.environment,
          given: [options.param ?? []].flat(),
          written: Object.keys(serverless.configurationInput?.params?.[stage] ?? {}),
        })
        if (faults !== '') throw new serverless.classes.Error(faults)
      },
      'after:aws:package:finalize:mergeCustomProviderResources': () => {
        const template = service.provider.compiledCloudFormationTemplate
        expandApiFunctions(template, service.custom.perApiFunction, service.functions)
        settleConditions(template)
        finishTemplate(template, readOrigins(service.custom.settings.corsAllowedOrigins ?? ''))
      },
    }
  }
}

/** Checks and builds with the Node.js of this project, which reads TypeScript. @returns what is wrong, or nothing */
function prepare(deployment) {
  const script = join(dirname(fileURLToPath(import.meta.url)), 'prepare.ts')
  return new Promise((resolve, reject) => {
    const child = spawn(projectNode(), [script], { stdio: ['pipe', 'inherit', 'pipe'] })
    let complaints = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      complaints += text
    })
    child.on('error', reject)
    child.on('close', (code) => resolve(code === 0 ? '' : complaints.trim() || `${script} ended with ${code}`))
    child.stdin.end(JSON.stringify(deployment))
  })
}

/** The npm package `node`, a development dependency; without it, the Node.js that runs this. */
function projectNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json')
    return join(dirname(manifest), createRequire(import.meta.url)(manifest).bin.node)
  } catch {
    return process.execPath
  }
}
