import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PATTERNS } from '../../infra/deploy/patterns.ts'
import { allowedWords, SETTINGS, type Setting, STAGES } from '../../infra/deploy/settings.ts'
import { VARIABLES } from '../../lib/config.ts'
import { ROOT, read } from './pages.ts'

const code = (value: string) => `\`${value}\``
/** `${env:NAME, 'default'}` is its default. */
const plain = (value: string) => value.replace(/^\$\{env:\w+, '(.*)'\}$/, '$1')

/** A line of docs/settings.md. */
function row([name, setting]: [string, Setting]): string {
  const orNone = (value: unknown = '') => (value === '' ? 'none' : code(String(value)))
  const ofStages = STAGES.flatMap((stage) => {
    const value = setting[stage]
    return value === undefined ? [] : [`${stage} ${orNone(plain(value))}`]
  })
  const defaults = orNone(setting.default) + (ofStages.length > 0 ? ` (${ofStages.join(', ')})` : '')
  const { meaning } = setting
  const cells = [code(name), defaults, allowedWords(setting), meaning]
  return `| ${cells.join(' | ')} |`
}

describe('infra/resources/settings.yml', () => {
  it('is the table in docs/settings.md; -u writes it', async () => {
    const page = read('docs/settings.md')
    const written = page.match(/^\| `.*\n/gm)?.join('') ?? ''
    const table = Object.entries(SETTINGS).map(row).join('\n')
    await expect(page.replace(written, `${table}\n`)).toMatchFileSnapshot(join(ROOT, 'docs/settings.md'))
  })

  it('has no line that nobody knows', () => {
    const known = [...STAGES, 'default', 'variable', 'kind', 'min', 'max', 'allowed', 'meaning']
    for (const [name, setting] of Object.entries(SETTINGS)) {
      expect(known, name).toEqual(expect.arrayContaining(Object.keys(setting)))
      expect(allowedWords(setting), `${name} says what is allowed`).not.toContain('undefined')
      if (setting.kind) expect(PATTERNS, name).toHaveProperty(setting.kind)
    }
  })

  it('says what each variable of lib/config.ts means, but for three that no team sets', () => {
    const described = Object.keys(SETTINGS).filter((name) => name in VARIABLES)
    expect([...described, 'serviceName', 'rateLimitsTable', 's3ForcePathStyle'].toSorted()).toEqual(
      Object.keys(VARIABLES).toSorted(),
    )
  })

  it('has no setting that nothing uses', () => {
    const code = globSync(['functions/**/*.ts', 'lib/**/*.ts'], { cwd: ROOT, exclude: ['lib/config.ts'] })
    const used = code.map(read).join('\n')
    const grouped = /^(rateLimit(PerMinute|Burst)|audit[A-Z].*|.*KeyTemplate|serviceName)$/
    const sources = ['infra/resources/**/*.yml', 'infra/deploy/*.ts', 'serverless.yml']
    const template = globSync(sources, { cwd: ROOT, exclude: ['**/settings.yml'] })
    const inTemplate = template.map(read).join('\n')
    for (const name of Object.keys(SETTINGS)) {
      const isRead = name in VARIABLES && !grouped.test(name)
      const where = isRead ? used : `${inTemplate}\n${read('lib/config.ts')}`
      const isUsed = new RegExp(`\\b${name}\\b`).test(where)
      expect(isUsed, `${name} is used in ${isRead ? 'lib or functions' : 'infra'}`).toBe(true)
    }
  })
})
