const { ownSettings, refuse, stageOf } = require('./own-settings.cjs')
const { parameters } = require('./settings.cjs')

/** What serverless.yml has as `params`; --param still comes before all of it. */
module.exports = ({ options }) => {
  const stage = stageOf(options)
  const problems = [...problemsInStage(stage), ...problemsInOptions(options)]
  if (problems.length > 0) refuse(problems)
  const defaults = parameters()
  const { region, ...own } = ownSettings(stage)
  const texts = Object.entries(own).map(([name, value]) => [name, String(value ?? '')])
  return { ...defaults, [stage]: { ...defaults[stage], ...Object.fromEntries(texts) } }
}

/** Stages that the framework itself would refuse; problems-in-deployment.ts has the other rules. */
function problemsInStage(stage) {
  return /^[A-Za-z0-9-]+$/.test(stage)
    ? []
    : [`--stage is "${stage}": allowed are 1 to 16 of a-z, 0-9 and, inside, "-"`]
}

function problemsInOptions({ param }) {
  const malformed = [param ?? []].flat().filter((text) => !/^[^=]+=./.test(text))
  return malformed.map((text) => `--param ${text}: write it as --param NAME=VALUE`)
}
