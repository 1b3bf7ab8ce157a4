// What a path that the API does not have was probably meant to be, for the template that is deployed and for the local
// gateway alike. The patterns mean the same in Java, which runs them in AWS, and in JavaScript.

/** The problems that are looked for, each with the sentence that names it. */
const DOUBLED_VERSION = { pattern: '/+[vV]1/+[vV]1/.*', text: ' It has /v1 twice.' }
const MISSING_VERSION = { pattern: '(?!/*[vV]1/).*', text: ' It lacks the /v1 at its beginning.' }
const DOUBLED_SLASH = { pattern: '.*//.*', text: ' It has a doubled slash.' }
const TRAILING_SLASH = { pattern: '.*/', text: ' It has a slash at its end.' }
const PROBLEMS = [DOUBLED_VERSION, MISSING_VERSION, DOUBLED_SLASH, TRAILING_SLASH]
const OTHER_CASE = ' It has upper case where the API has lower case.'

const VERSION = 'v1'

/**
 * @param {string} path of no operation, with its first slash
 * @param {readonly { method: string, resource: string }[]} routes
 * @returns {string | undefined} what was probably meant, and in what it differs
 */
export function describeNearMiss(path, routes) {
  const meant = nearMisses(routes).find(({ anyCase }) => matches(path, anyCase))
  if (meant === undefined) return undefined
  const problems = PROBLEMS.filter(({ pattern }) => matches(path, pattern)).map(({ text }) => text)
  return [meant.text, ...problems, matches(path, meant.sameCase) ? '' : OTHER_CASE].join('')
}

/**
 * The same as a mapping template of API Gateway (VTL). Nothing of the path is in the answer: it might break out of the JSON.
 * @param {readonly { method: string, resource: string }[]} routes
 * @param {string} otherwise said when nothing is near
 */
export function nearMissTemplate(routes, otherwise) {
  const cases = nearMisses(routes).map(({ anyCase, sameCase, text }, index) => {
    const otherCase = `#if(!$path.matches('${sameCase}'))${OTHER_CASE}#end`
    return `#${index === 0 ? 'if' : 'elseif'}($path.matches('${anyCase}'))${text}${PROBLEMS.map(ifProblem).join('')}${otherCase}`
  })
  // No #else: the letters after it would be taken for a part of its name.
  return `${cases.join('')}#elseif(true)${otherwise}#end`
}

/** Before the template: what it looks at. */
export const READ_PATH = `#set($path = "/$input.params('proxy')")`

function ifProblem({ pattern, text }) {
  return `#if($path.matches('${pattern}'))${text}#end`
}

/** For each path of the API, what is taken for it. */
function nearMisses(routes) {
  const resources = [...new Set(routes.map(({ resource }) => resource))].toSorted()
  return resources.map((resource) => {
    const methods = routes.filter((route) => route.resource === resource).map(({ method }) => method)
    const words = resource.split('/').filter((word) => word !== '' && word !== VERSION)
    const patternOf = (ofWord) => `/*(?:${ofWord(VERSION)}/+)*${words.map(ofWord).join('/+')}/*`
    return {
      anyCase: patternOf((word) => (isParameter(word) ? '[^/]+' : inAnyCase(word))),
      sameCase: patternOf((word) => (isParameter(word) ? '[^/]+' : word)),
      text: `The API has no such path. Probably meant: ${methods.toSorted().join(' or ')} ${resource}.`,
    }
  })
}

function isParameter(word) {
  return word.startsWith('{')
}

function inAnyCase(word) {
  return word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
}

function matches(path, pattern) {
  return new RegExp(`^(?:${pattern})$`).test(path)
}
