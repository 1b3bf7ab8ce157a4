/**
 * Conditions compare parameters, whose values are known here: so the deployed template has no conditions, only their
 * outcome. It can be read, linted and tested as it is.
 * @param template the whole CloudFormation template, changed in place
 */
export function resolveConditions(template) {
  const holds = (name) => isTrue(template.Conditions[name])
  for (const section of ['Resources', 'Outputs']) {
    for (const [id, { Condition }] of Object.entries(template[section])) {
      if (Condition === undefined) continue
      if (holds(Condition)) delete template[section][id].Condition
      else delete template[section][id]
    }
    template[section] = resolve(template[section], holds)
  }
  delete template.Conditions
}

function isTrue(condition) {
  const [[operator, operands]] = Object.entries(condition)
  if (operator === 'Fn::Not') return !isTrue(operands[0])
  if (operator === 'Fn::And') return operands.every(isTrue)
  if (operator !== 'Fn::Equals') throw new Error(`A condition by ${operator} is not foreseen`)
  return String(operands[0]) === String(operands[1])
}

/** The value with each Fn::If replaced by its outcome, and without what that leaves out. */
function resolve(value, holds) {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((each) => resolve(each, holds)).filter((each) => !isNothing(each))
  if ('Fn::If' in value) {
    const [condition, then, otherwise] = value['Fn::If']
    return resolve(holds(condition) ? then : otherwise, holds)
  }
  const resolved = Object.entries(value).map(([key, inner]) => [key, resolve(inner, holds)])
  return Object.fromEntries(resolved.filter(([, inner]) => !isNothing(inner)))
}

const isNothing = (value) => value?.Ref === 'AWS::NoValue'
