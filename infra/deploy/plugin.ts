import { join } from 'node:path'
import { originsIn } from '../../lib/config.ts'
import { applyAccountRules, type Settings, tagsOf } from './account-rules.ts'
import { finishTemplate } from './finish-template.ts'
import { expandLists, functionsFor, isSetIn } from './functions.ts'
import { ofType, resolveConditions, type Template } from './template.ts'
import type { Framework } from './variables.ts'

type Provider = { stackTags?: object; compiledCloudFormationTemplate: Template }
/** The part of the framework that the plugin uses. */
interface Serverless {
  service: { service: string; provider: Provider; custom: { settings: Settings }; resources: Template }
  configurationInput?: { params?: Record<string, object> }
  getProvider(name: 'aws'): { getStage(): string; getRegion(): string; naming: { getStackName(): string } }
  classes: { Error: new (message: string) => Error }
}

const NOT_PROTECTED =
  'The stack is deployed, but it and its tables could not be protected from deletion. Deploy again when that is fixed; npm run admin -- --stage … doctor tells what is protected.'

/** The plugin of docs/decisions/0010-one-local-plugin.md. What builds or calls AWS is loaded when it is needed. */
export default class PromotionDeployment {
  readonly hooks: Record<string, () => unknown>

  constructor(serverless: Serverless, options: Framework['options']) {
    const { service } = serverless
    const provider = () => serverless.getProvider('aws')
    const refuse = (heading: string, problems: readonly string[]) => {
      if (problems.length > 0) throw new serverless.classes.Error(`${heading}:\n- ${problems.join('\n- ')}`)
    }
    /** Does work that calls AWS, with the framework's region and profile. @param onFailure what to add to an error */
    const inAccount = async (onFailure: string, work: () => Promise<void>) => {
      process.env.AWS_REGION = provider().getRegion()
      if (options['aws-profile']) process.env.AWS_PROFILE = options['aws-profile']
      await work().catch(async (error) => {
        const { explainAwsFailure } = await import('./explain-aws-failure.ts')
        throw new serverless.classes.Error(`${explainAwsFailure(error).message}\n${onFailure}`)
      })
    }
    // CloudFormation passes a stack's tags on to its resources, and removes those that a call leaves out. This must not
    // come before packaging: with tags there, the framework would change the stage by itself.
    const tagStack = () => {
      const own = { service: service.service, stage: provider().getStage() }
      service.provider.stackTags = tagsOf(service.custom.settings, own)
    }
    this.hooks = {
      'before:package:initialize': async () => {
        const { problemsInDeployment } = await import('./problems-in-deployment.ts')
        const stage = provider().getStage()
        const byOption = [options.param ?? []].flat().map((text) => text.replace(/=.*/s, ''))
        const given = [...byOption, ...Object.keys(serverless.configurationInput?.params?.[stage] ?? {})]
        const asked = { stage, region: provider().getRegion(), settings: service.custom.settings, given }
        refuse('These parameters cannot be deployed (docs/settings.md)', problemsInDeployment(asked))
        if (process.env.PROMOTION_BUILD === 'skip') return
        const { buildForDeployment } = await import('../bundle/build.ts')
        const root = join(import.meta.dirname, '../..')
        await buildForDeployment({ root, outDir: join(root, 'dist') })
      },
      'after:aws:package:finalize:mergeCustomProviderResources': () => {
        const template = service.provider.compiledCloudFormationTemplate
        const { settings } = service.custom
        const corsAllowedOrigins = originsIn(settings.corsAllowedOrigins ?? '')
        const functions = functionsFor(isSetIn(settings))
        template.Resources = expandLists(template.Resources, functions)
        resolveConditions(template)
        applyAccountRules(template, settings)
        finishTemplate(template, { stackName: provider().naming.getStackName(), corsAllowedOrigins, functions })
      },
      'before:deploy:deploy': () => {
        tagStack()
        return inAccount('Nothing was deployed.', async () => {
          const { examineAccount } = await import('./preflight.ts')
          const stackName = provider().naming.getStackName()
          const deployment = { stackName, settings: service.custom.settings, tables: tablesOf(service.resources) }
          const { problems, warnings } = await examineAccount(deployment)
          for (const warning of warnings) console.log(`Warning: ${warning}`)
          refuse('This account is not ready for it (docs/deploy.md)', problems)
        })
      },
      'before:rollback:rollback': tagStack,
      'after:deploy:deploy': () =>
        inAccount(NOT_PROTECTED, async () => {
          const { protectStack } = await import('./stack.ts')
          const isProtected = String(service.custom.settings.deletionProtection) === 'true'
          const changes = await protectStack(provider().naming.getStackName(), isProtected)
          for (const change of changes) console.log(change)
        }),
    }
  }
}

function tablesOf(resources: Template) {
  return ofType(resources, 'AWS::DynamoDB::Table').map(([id, { Properties }]) => ({
    // KeysTable → keysTable
    parameter: `${id[0]?.toLowerCase()}${id.slice(1)}`,
    name: Properties.TableName as string,
    indexes: (Properties.GlobalSecondaryIndexes ?? []).map(({ IndexName }: { IndexName: string }) => IndexName),
  }))
}
