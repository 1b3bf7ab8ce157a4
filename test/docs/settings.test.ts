import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { environment, SETTINGS, type Setting, STAGES } from '../../infra/deploy/settings.cjs'
import { ConfigurationError, readConfig } from '../../lib/config.ts'
import { ROOT, read } from './pages.ts'

const code = (value: string) => `\`${value}\``
/** `${env:NAME, 'default'}` is its default. */
const plain = (value: string) => value.replace(/^\$\{env:\w+, '(.*)'\}$/, '$1')

/** A line of docs/settings.md. */
function row([name, setting]: [string, Setting]): string {
  const orNone = (value = '') => (value === '' ? 'none' : code(value))
  const ofStages = STAGES.flatMap((stage) => {
    const value = setting[stage]
    return value === undefined ? [] : [`${stage} ${orNone(plain(value))}`]
  })
  const defaults = orNone(setting.default) + (ofStages.length > 0 ? ` (${ofStages.join(', ')})` : '')
  const { variable, integer, isBoolean, meaning } = setting
  const bounds = integer && `${integer.min} to ${integer.max}`
  const allowed = setting.allowed ?? bounds ?? (isBoolean && '`true`, `false`')
  return `| ${[code(name), defaults, variable === undefined ? '–' : code(variable), allowed, meaning].join(' | ')} |`
}

describe('infra/resources/settings.yml', () => {
  it('is the table in docs/settings.md; -u writes it', async () => {
    const page = read('docs/settings.md')
    const written = page.match(/^\| `.*\n/gm)?.join('') ?? ''
    const table = Object.entries(SETTINGS).map(row).join('\n')
    await expect(page.replace(written, `${table}\n`)).toMatchFileSnapshot(join(ROOT, 'docs/settings.md'))
  })

  it('has no line that nobody knows', () => {
    const known = [...STAGES, 'default', 'variable', 'kind', 'integer', 'isBoolean', 'allowed', 'meaning']
    for (const [name, setting] of Object.entries(SETTINGS)) {
      expect(known, name).toEqual(expect.arrayContaining(Object.keys(setting)))
      expect(
        setting.allowed !== undefined || setting.integer || setting.isBoolean,
        `${name} is of some kind`,
      ).toBeTruthy()
    }
  })

  const withVariable = Object.entries(SETTINGS).flatMap(([name, { variable, ...setting }]) =>
    variable === undefined ? [] : [{ name, variable, ...setting }],
  )
  const required = Object.fromEntries(
    Object.keys(environment()).flatMap((variable) => (/_(TABLE|BUCKET)$/.test(variable) ? [[variable, 'x']] : [])),
  )
  const problemsWith = (variables: Record<string, string>): string => {
    try {
      readConfig({ ...required, ...variables })
      return ''
    } catch (error) {
      if (error instanceof ConfigurationError) return error.message
      throw error
    }
  }

  it.each(withVariable)('has for $name what lib/config.ts reads from $variable', (setting) => {
    const { name, variable, integer, isBoolean, default: byDefault } = setting
    if (integer) {
      for (const value of [integer.min, integer.max]) expect(problemsWith({ [variable]: `${value}` }), name).toBe('')
      for (const value of [integer.min - 1, integer.max + 1]) {
        expect(problemsWith({ [variable]: `${value}` }), `lib/config.ts lets ${variable}=${value} in`).toContain(
          variable,
        )
      }
    }
    if (isBoolean)
      expect(problemsWith({ [variable]: 'yes' }), `lib/config.ts does not read ${variable}`).toContain(variable)
    if (byDefault === undefined) return
    const config = readConfig(required)
    expect(readConfig({ ...required, [variable]: byDefault }), `lib/config.ts has another default`).toEqual(config)
  })
})
