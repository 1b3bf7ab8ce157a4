import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { expectDocumentedNames, ROOT, read } from '../pages/pages.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { packagedService } from '../support/template/packages.ts'

const PAGE = 'docs/runbook.md'
/** Every line has these members, so any query may use them. */
const OF_EVERY_LINE = ['level', 'message', 'error', 'name', 'cause']
const KEYWORDS =
  /^(filter|fields|stats|sort|limit|desc|asc|by|as|and|or|in|like|count|latest|ispresent|requests|times|line)$/

const prod = await packagedService('prod')
const queries = prod.propertiesOf('AWS::Logs::QueryDefinition')

const source = globSync('{lib,functions}/**/*.ts', { cwd: ROOT }).map(read).join('\n')

/** Names of fields, without texts, patterns and what the query itself names. */
const fieldsOf = (text: string) =>
  (text.replace(/"[^"]*"|\/[^\n]*\/|@\w+/g, '').match(/[A-Za-z_]\w*/g) ?? []).filter((word) => !KEYWORDS.test(word))

describe('saved queries', () => {
  it('are those that the runbook names', () => {
    const documented = [...read(PAGE).matchAll(/(?:query|queries)((?:,?\s(?:and\s)?`[a-z-]+`)+)/g)].flatMap(
      ([, names = '']) => [...names.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name),
    )
    const prefix = 'container-file-promotion-prod/'
    for (const { Name } of queries) expect(Name.startsWith(prefix), Name).toBe(true)
    expectDocumentedNames(PAGE, {
      documented: [...new Set(documented)],
      expected: queries.map(({ Name }) => Name.slice(prefix.length)),
      line: (name) => `the query \`${name}\` where it helps`,
    })
  })

  it('look into log groups of the stack', () => {
    for (const { Name, LogGroupNames } of queries) {
      expect(LogGroupNames.length, Name).toBeGreaterThan(0)
      for (const { Ref } of LogGroupNames) expect(prod.resource(Ref).Type, Name).toBe('AWS::Logs::LogGroup')
    }
  })

  it('look for messages and fields that are logged', () => {
    const gateway = textOf(prod.resource('GatewayStage').Properties.AccessLogSetting.Format)
    for (const { Name, QueryString, LogGroupNames } of queries) {
      for (const [, message] of QueryString.matchAll(/message !?= "([^"]+)"/g)) expect(source).toContain(`'${message}'`)
      for (const field of fieldsOf(QueryString)) {
        if (LogGroupNames[0].Ref === 'GatewayLogGroup') expect(Object.keys(JSON.parse(gateway)), Name).toContain(field)
        else if (!OF_EVERY_LINE.includes(field))
          expect(new RegExp(`\\b${field}\\b`).test(source), `${Name}: ${field}`).toBe(true)
      }
    }
  })
})
