const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { parse } = require('yaml')

/** infra/resources/settings.yml, by the name of the setting. */
const SETTINGS = parse(readFileSync(join(__dirname, '../resources/settings.yml'), 'utf8'))
const STAGES = ['prod', 'local']

/** What serverless.yml has as `params`, without a team's own values. One without a default is empty. */
function parameters() {
  const ofStage = (stage) => mapSettings((setting) => setting[stage])
  return {
    default: mapSettings((setting) => setting.default ?? ''),
    ...Object.fromEntries(STAGES.map((stage) => [stage, ofStage(stage)])),
  }
}

/** `custom.settings` of serverless.yml: each setting with the value it has for the stage, which the plugin checks. */
const values = () => mapSettings((_, name) => `\${param:${name}}`)

/** `provider.environment` of serverless.yml. */
function environment() {
  const stack = `\${self:service}-\${sls:stage}`
  const tables = ['keys', 'workspaces', 'reservations', 'documents', 'rate-limits'].map((table) => [
    `${table.replace('-', '_').toUpperCase()}_TABLE`,
    `${stack}-${table}`,
  ])
  // A bucket has a name even if none was given.
  const variableOf = (name, { kind }) => (kind === 'bucket' ? `\${self:custom.${name}Name}` : `\${param:${name}}`)
  const variables = Object.entries(SETTINGS)
    .filter(([, { variable }]) => variable !== undefined)
    .map(([name, setting]) => [setting.variable, variableOf(name, setting)])
  return { SERVICE_NAME: stack, ...Object.fromEntries([...tables, ...variables]) }
}

function mapSettings(read) {
  const entries = Object.entries(SETTINGS).map(([name, setting]) => [name, read(setting, name)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

module.exports = { environment, parameters, SETTINGS, STAGES, values }
