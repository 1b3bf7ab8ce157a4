const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { parse } = require('yaml')

const FOLDER = join(__dirname, '../../settings')

/** The same as provider.stage of serverless.yml. */
const stageOf = (options) => options.stage ?? 'dev'

/**
 * A team's own values for a stage: settings/<stage>.yml, a flat list of parameters and `region`. A file apart, so that an
 * update of the project never conflicts with it, and no deployment forgets one of them.
 * @returns {Record<string, unknown>}
 * @throws {Error} that says in a sentence what is wrong with the file
 */
function readOwnSettings(stage) {
  const name = `settings/${stage}.yml`
  const file = join(FOLDER, `${stage}.yml`)
  if (!existsSync(file)) return {}
  let settings
  try {
    settings = parse(readFileSync(file, 'utf8')) ?? {}
  } catch (error) {
    throw new Error(`${name} cannot be read: ${error.message.split('\n')[0]}`)
  }
  if (typeof settings !== 'object' || Array.isArray(settings)) {
    throw new Error(`${name} is no list of parameters, one "name: value" a line`)
  }
  return settings
}

/** The same for serverless.yml. */
function ownSettings(stage) {
  try {
    return readOwnSettings(stage)
  } catch (error) {
    return refuse([error.message])
  }
}

/** Exits here: the framework would repeat the same sentence for every variable of serverless.yml. */
function refuse(problems) {
  console.error(`\nError:\nThis cannot be deployed (docs/settings.md):\n- ${problems.join('\n- ')}`)
  process.exit(1)
}

module.exports = { ownSettings, readOwnSettings, refuse, stageOf }
