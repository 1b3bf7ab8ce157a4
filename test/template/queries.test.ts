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
const queries: { name: string; text: string; groups: string[] }[] = prod
  .ofType('AWS::Logs::QueryDefinition')
  .map(({ Properties: { Name, QueryString, LogGroupNames } }) => ({
    name: Name,
    text: QueryString,
    groups: LogGroupNames.map(({ Ref }: { Ref: string }) => Ref),
  }))

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
    for (const { name } of queries) expect(name.startsWith(prefix), name).toBe(true)
    expectDocumentedNames(PAGE, {
      documented: [...new Set(documented)],
      expected: queries.map(({ name }) => name.slice(prefix.length)),
      line: (name) => `the query \`${name}\` where it helps`,
    })
  })

  it('look into log groups of the stack', () => {
    for (const { name, groups } of queries) {
      expect(groups.length, name).toBeGreaterThan(0)
      for (const group of groups) expect(prod.resource(group).Type, name).toBe('AWS::Logs::LogGroup')
    }
  })

  it('look for messages and fields that are logged', () => {
    const gateway = textOf(prod.resource('GatewayStage').Properties.AccessLogSetting.Format)
    for (const { name, text, groups } of queries) {
      for (const [, message] of text.matchAll(/message !?= "([^"]+)"/g)) expect(source).toContain(`'${message}'`)
      for (const field of fieldsOf(text)) {
        if (groups[0] === 'GatewayLogGroup')
          expect([name, Object.keys(JSON.parse(gateway))]).toEqual([name, expect.arrayContaining([field])])
        else if (!OF_EVERY_LINE.includes(field))
          expect([name, field, new RegExp(`\\b${field}\\b`).test(source)]).toEqual([name, field, true])
      }
    }
  })
})
