import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyAccountRules, tagsOf } from './account-rules.mjs'
import { expandApiFunctions } from './api-functions.mjs'
import { readOrigins } from './cors-texts.mjs'
import { nameExistingTables, tablesOf, useExistingTables } from './existing-tables.mjs'
import { finishTemplate } from './finish-template.mjs'
import { resolveConditions } from './resolve-conditions.mjs'

/**
 * Serverless plugin, plain JavaScript because the framework loads it with whatever Node.js runs the framework. It checks
 * the parameters and builds dist/ before packaging, and completes the template after it; it looks at the account before a
 * deployment, and protects what is there after it.
 */
export default class PromotionDeployment {
  constructor(serverless, options) {
    const { service } = serverless
    const provider = () => serverless.getProvider('aws')
    const run = async (script, input) => {
      const complaints = await runScript(script, input, environmentOf(provider(), options))
      if (complaints !== '') throw new serverless.classes.Error(complaints)
    }
    // CloudFormation passes a stack's tags on to its resources, and takes away what a call leaves out. Not before packaging:
    // with tags there, the framework would change the stage by itself.
    const tagStack = () => {
      const names = { service: service.service, stage: provider().getStage() }
      service.provider.stackTags = tagsOf(service.custom.settings, names)
    }
    this.hooks = {
      'before:package:initialize': async () => {
        const stage = provider().getStage()
        await run('prepare.ts', {
          stage,
          region: provider().getRegion(),
          settings: service.custom.settings,
          environment: service.provider.environment,
          given: [options.param ?? []].flat(),
          written: Object.keys(serverless.configurationInput?.params?.[stage] ?? {}),
        })
        // Here, because a version's name depends on the environment.
        nameExistingTables(service)
      },
      'after:aws:package:finalize:mergeCustomProviderResources': () => {
        const template = service.provider.compiledCloudFormationTemplate
        expandApiFunctions(template, service.custom.perApiFunction, service.functions)
        resolveConditions(template)
        useExistingTables(template, service.custom.settings)
        applyAccountRules(template, service.custom.settings)
        finishTemplate(template, readOrigins(service.custom.settings.corsAllowedOrigins ?? ''))
      },
      'before:deploy:deploy': async () => {
        tagStack()
        await run('before-deployment.ts', intentionOf(serverless))
      },
      'before:rollback:rollback': tagStack,
      'after:deploy:deploy': () =>
        run('after-deployment.ts', {
          stackName: provider().naming.getStackName(),
          isProtected: String(service.custom.settings.deletionProtection) === 'true',
        }),
    }
  }
}

/** For preflight.ts. */
function intentionOf(serverless) {
  const { custom, resources } = serverless.service
  const tables = tablesOf(resources.Resources, custom.settings)
  return {
    stackName: serverless.getProvider('aws').naming.getStackName(),
    createsGatewayLogRole: String(custom.settings.createGatewayLogRole) === 'true',
    auditShards: Number(custom.settings.auditShards),
    reservedConcurrency: Number(custom.settings.reservedConcurrency || 0),
    newTables: tables
      .filter(({ existing }) => !existing)
      .map(({ parameter, ownName }) => ({ parameter, name: ownName })),
    existingTables: tables
      .filter(({ existing }) => existing)
      .map(({ parameter, existing, indexes }) => ({ parameter, name: existing, indexes })),
  }
}

/** Region and profile of the framework, for scripts that call AWS themselves. */
function environmentOf(provider, options) {
  const profile = options['aws-profile']
  return { ...process.env, AWS_REGION: provider.getRegion(), ...(profile ? { AWS_PROFILE: profile } : {}) }
}

/** With the Node.js of this project, which reads TypeScript. @returns what is wrong, or nothing */
function runScript(name, input, env) {
  const script = join(dirname(fileURLToPath(import.meta.url)), name)
  return new Promise((resolve, reject) => {
    const child = spawn(projectNode(), [script], { stdio: ['pipe', 'inherit', 'pipe'], env })
    let complaints = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      complaints += text
    })
    child.on('error', reject)
    child.on('close', (code) => resolve(code === 0 ? '' : complaints.trim() || `${script} ended with ${code}`))
    child.stdin.end(JSON.stringify(input))
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
