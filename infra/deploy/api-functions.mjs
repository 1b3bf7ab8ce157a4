const FOR_EACH = 'ForEachApiFunction'

/**
 * Expands one pattern for every function behind the gateway, and the list elements `{ ForEachApiFunction: … }`.
 * @param template the whole CloudFormation template, changed in place
 * @param pattern infra/resources/per-api-function.yml
 * @param functions those of serverless.yml, by their names there
 */
export function expandApiFunctions(template, pattern, functions) {
  const placeholders = Object.entries(functions)
    .filter(([, { events }]) => events.some(({ http }) => http !== undefined))
    .map(([key, { name }]) => ({
      Function: key[0].toUpperCase() + key.slice(1),
      'function-name': name,
      slug: key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    }))
  for (const each of placeholders) Object.assign(template.Resources, fill(pattern, each))
  template.Resources = expandLists(template.Resources, placeholders)
}

function expandLists(value, placeholders) {
  if (value === null || typeof value !== 'object') return value
  if (!Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expandLists(inner, placeholders)]))
  }
  return value.flatMap((element) =>
    element !== null && typeof element === 'object' && FOR_EACH in element
      ? placeholders.map((each) => fill(element[FOR_EACH], each))
      : [expandLists(element, placeholders)],
  )
}

/** The pattern with its placeholders filled in, those in the names of its properties, too. */
function fill(pattern, placeholders) {
  const names = Object.keys(placeholders).join('|')
  const filled = JSON.stringify(pattern).replace(new RegExp(`\\{(${names})\\}`, 'g'), (_, name) => placeholders[name])
  return JSON.parse(filled)
}
