const TABLE = 'AWS::DynamoDB::Table'

/** The tables of some resources: which parameter can name an existing one instead, and whether it does. */
export function tablesOf(resources, settings) {
  return Object.entries(resources)
    .filter(([, { Type }]) => Type === TABLE)
    .map(([id, { Properties }]) => {
      // KeysTable → keysTable
      const parameter = `${id[0].toLowerCase()}${id.slice(1)}`
      const indexes = (Properties.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName)
      return { id, parameter, ownName: Properties.TableName, indexes, existing: settings[parameter] || undefined }
    })
}

/**
 * Gives the functions the names of existing tables. Before the framework compiles them, because a version's name
 * depends on its environment, and one of the same name is not published again.
 * @param service the framework's, changed in place
 */
export function nameExistingTables({ provider, resources, custom }) {
  for (const { ownName, existing } of tablesOf(resources.Resources, custom.settings)) {
    for (const [variable, value] of Object.entries(provider.environment)) {
      if (existing && value === ownName) provider.environment[variable] = existing
    }
  }
}

/**
 * Replaces the stack's tables by existing ones: they are removed from the template, and every reference to them names
 * the existing ones.
 * @param template the whole CloudFormation template, changed in place
 * @param settings every parameter with its value
 */
export function useExistingTables(template, settings) {
  for (const { id, ownName, existing } of tablesOf(template.Resources, settings)) {
    if (!existing) continue
    delete template.Resources[id]
    for (const section of ['Resources', 'Outputs']) {
      template[section] = speakOf(template[section], { id, ownName, name: existing })
    }
  }
}

const arnOf = (name) => `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/${name}`

function speakOf(value, table) {
  const { id, ownName, name } = table
  if (value === ownName) return name
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((each) => speakOf(each, table))
  if (value.Ref === id) return name
  if (value['Fn::GetAtt']?.[0] === id) return { 'Fn::Sub': arnOf(name) }
  if ('Fn::Sub' in value) {
    const [text, ...variables] = [value['Fn::Sub']].flat()
    const renamed = text.replaceAll(`\${${id}.Arn}`, arnOf(name)).replaceAll(`\${${id}}`, name)
    return { 'Fn::Sub': variables.length > 0 ? [renamed, ...speakOf(variables, table)] : renamed }
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, speakOf(inner, table)]))
}
