/**
 * Removes from DependsOn what is not in the template and what a reference implies: the framework states both.
 * @param template the whole CloudFormation template, changed in place
 */
export function tidyDependencies(template) {
  for (const resource of Object.values(template.Resources)) {
    if (resource.DependsOn === undefined) continue
    const implied = referencesIn(resource.Properties)
    const stated = [resource.DependsOn].flat().filter((id) => id in template.Resources && !implied.has(id))
    if (stated.length > 0) resource.DependsOn = stated
    else delete resource.DependsOn
  }
}

/** Logical ids (and pseudo parameters) that a value refers to. */
export function referencesIn(value, found = new Set()) {
  if (value === null || typeof value !== 'object') return found
  if (typeof value.Ref === 'string') found.add(value.Ref)
  if (Array.isArray(value['Fn::GetAtt'])) found.add(value['Fn::GetAtt'][0])
  const [text] = [value['Fn::Sub']].flat()
  if (typeof text === 'string') for (const [, id] of text.matchAll(/\$\{([A-Za-z0-9]+)(?:\.[^}]*)?\}/g)) found.add(id)
  for (const inner of Object.values(value)) referencesIn(inner, found)
  return found
}
