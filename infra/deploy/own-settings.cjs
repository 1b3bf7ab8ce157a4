const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { parse } = require('yaml')

const FOLDER = join(__dirname, '../../settings')

/** What provider.stage of serverless.yml says. */
const stageOf = (options) => options.stage ?? 'dev'

/**
 * A team's own values for a stage: settings/<stage>.yml, a flat list of parameters and `region`. A file apart, so that an
 * update of the project never conflicts with it, and no deployment forgets one of them.
 * @returns {Record<string, unknown>}
 */
function ownSettings(stage) {
  const file = join(FOLDER, `${stage}.yml`)
  if (!existsSync(file)) return {}
  const name = `settings/${stage}.yml`
  try {
    const settings = parse(readFileSync(file, 'utf8')) ?? {}
    if (typeof settings === 'object' && !Array.isArray(settings)) return settings
  } catch (error) {
    refuse([`${name} cannot be read: ${error.message.split('\n')[0]}`])
  }
  refuse([`${name} is no list of parameters, one "name: value" a line`])
}

/** Ends the framework here: what it would say itself is the same sentence for every variable of serverless.yml. */
function refuse(faults) {
  console.error(`\nError:\nThis cannot be deployed (docs/settings.md):\n- ${faults.join('\n- ')}`)
  process.exit(1)
}

module.exports = { ownSettings, refuse, stageOf }
