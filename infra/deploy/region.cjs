const { readFileSync } = require('node:fs')
const { homedir } = require('node:os')
const { join } = require('node:path')
const { ownSettings, refuse, stageOf } = require('./own-settings.cjs')

/** Ask nothing of AWS, so any region will do. */
const WITHOUT_AWS = new Set(['package', 'print', 'offline'])

/**
 * The region of the stack, in this order: --region, settings/<stage>.yml, AWS_REGION, AWS_DEFAULT_REGION, the profile.
 * A command that reaches AWS needs one of them: a made-up region would create a second stack, or remove nothing.
 */
module.exports = ({ options }) => {
  const stage = stageOf(options)
  const own = ownSettings(stage).region
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env
  const region = options.region || own || AWS_REGION || AWS_DEFAULT_REGION || regionOfProfile(options)
  if (region !== undefined) return own && own !== region ? differs(stage, own, region) : String(region)
  if (process.argv.slice(2).some((word) => WITHOUT_AWS.has(word))) return 'us-east-1'
  return refuse([`no region: write "region: eu-west-1" into settings/${stage}.yml, or say --region`])
}

/** --region that contradicts the file is an expensive mistake. */
function differs(stage, own, region) {
  return refuse([`--region is ${region}, but settings/${stage}.yml says ${own}: one stage is in one region`])
}

/** As the AWS CLI finds it: "[profile name]" of the configuration file. */
function regionOfProfile(options) {
  const profile = options['aws-profile'] || process.env.AWS_PROFILE || process.env.AWS_DEFAULT_PROFILE || 'default'
  const file = process.env.AWS_CONFIG_FILE || join(homedir(), '.aws/config')
  let section = ''
  for (const line of textOf(file).split(/\r?\n/)) {
    const heading = /^\s*\[\s*(?:profile\s+)?(.*?)\s*\]/.exec(line)
    if (heading) section = heading[1]
    const region = /^region\s*=\s*([a-z0-9-]+)/.exec(line)
    if (section === profile && region) return region[1]
  }
  return undefined
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
