import { createRequire } from 'node:module'

interface Context {
  attrNames?: Record<string, string>
  attrVals?: Record<string, object>
  unusedAttrNames: Record<string, true>
  unusedAttrVals: Record<string, true>
  isKeyCondition?: boolean
}

interface Parser {
  parse(expression: string, options: { context: Context }): unknown
}

interface Parsed {
  /** The parsed expression, with marks where names and values belong. */
  template: unknown
  names: string[]
  valueOfMark: Map<object, string>
}

const NAME_MARK = '\0'
/** An expression that compares its values while it is parsed. */
const LOOKS_AT_VALUES = /\bBETWEEN\b/i

const require = createRequire(import.meta.url)
let isDone = false

/**
 * From now on, dynalite parses an expression once for all requests that differ in names and values alone. Parsing is most of
 * what it does for a small write, and a simulation sends hundreds of thousands with some ten expressions.
 */
export function parseOnce(): void {
  if (isDone) return
  isDone = true
  for (const file of ['conditionParser', 'updateParser']) {
    const parser = require(`dynalite/db/${file}.js`) as Parser
    parser.parse = remember(parser.parse)
  }
}

function remember(parse: Parser['parse']): Parser['parse'] {
  const known = new Map<string, Parsed>()
  return (expression, { context }) => {
    const { attrNames = {}, attrVals = {}, isKeyCondition } = context
    const areDistinct = new Set(Object.values(attrNames)).size === Object.keys(attrNames).length
    if (!areDistinct || LOOKS_AT_VALUES.test(expression)) return parse(expression, { context })
    const types = Object.entries(attrVals).map(([name, value]) => `${name} ${Object.keys(value)}`)
    const key = [expression, isKeyCondition, ...Object.keys(attrNames), ...types].join('\n')
    const parsed = known.get(key) ?? parseTemplate(parse, expression, context)
    if (parsed === undefined) return parse(expression, { context })
    known.set(key, parsed)
    for (const name of parsed.names) delete context.unusedAttrNames[name]
    for (const name of parsed.valueOfMark.values()) delete context.unusedAttrVals[name]
    return fill(parsed.template, attrNames, (mark) => attrVals[parsed.valueOfMark.get(mark) ?? ''])
  }
}

/** @returns undefined for an expression that is not valid */
function parseTemplate(parse: Parser['parse'], expression: string, context: Context): Parsed | undefined {
  const { attrNames = {}, attrVals = {} } = context
  const marks = Object.fromEntries(Object.entries(attrVals).map(([name, value]) => [name, { ...value }]))
  // Whatever the request's other expressions use: those of the next may use others.
  const allOf = (named: object) => Object.fromEntries(Object.keys(named).map((name) => [name, true as const]))
  const [unusedAttrNames, unusedAttrVals] = [allOf(attrNames), allOf(attrVals)]
  const template = parse(expression, {
    context: {
      ...context,
      ...(context.attrNames && {
        attrNames: Object.fromEntries(Object.keys(attrNames).map((name) => [name, NAME_MARK + name])),
      }),
      ...(context.attrVals && { attrVals: marks }),
      unusedAttrNames,
      unusedAttrVals,
    },
  })
  if (typeof template !== 'object' || template === null) return undefined
  const used = Object.entries(marks).filter(([name]) => !(name in unusedAttrVals))
  return {
    template,
    names: Object.keys(attrNames).filter((name) => !(name in unusedAttrNames)),
    valueOfMark: new Map(used.map(([name, mark]) => [mark, name])),
  }
}

/** A copy of the template with names and values in the places of their marks. */
function fill(
  template: unknown,
  names: Record<string, string>,
  valueFor: (mark: object) => object | undefined,
): unknown {
  const nameOf = (text: string) => (text.startsWith(NAME_MARK) ? (names[text.slice(1)] ?? text) : text)
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return nameOf(part)
    if (Array.isArray(part)) return part.map(copy)
    if (typeof part !== 'object' || part === null) return part
    const value = valueFor(part)
    if (value !== undefined) return value
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [nameOf(key), copy(inner)]))
  }
  return copy(template)
}
