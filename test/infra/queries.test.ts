import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { expectDocumentedNames } from '../docs/pages.ts'
import { textOf } from '../support/package/intrinsics.ts'
import { PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from '../support/package/packages.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = 'docs/operations.md'
const OPERATIONS = readFileSync(join(ROOT, PAGE), 'utf8')
/** What a query may take of every line. */
const OF_EVERY_LINE = ['level', 'message', 'error', 'name', 'cause']
const KEYWORDS =
  /^(filter|fields|stats|sort|limit|desc|asc|by|as|and|or|in|like|count|latest|ispresent|requests|times|line)$/

let prod: Packaged
let queries: { name: string; text: string; groups: string[] }[]
beforeAll(async () => {
  prod = await packagedService('prod')
  queries = prod.ofType('AWS::Logs::QueryDefinition').map(({ Properties: { Name, QueryString, LogGroupNames } }) => ({
    name: Name,
    text: QueryString,
    groups: LogGroupNames.map(({ Ref }: { Ref: string }) => Ref),
  }))
}, PACKAGING_TIMEOUT_MS)

const source = ['lib', 'functions']
  .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  .join('\n')

/** Names of fields, without texts, patterns and what the query itself names. */
const fieldsOf = (text: string) =>
  (text.replace(/"[^"]*"|\/[^\n]*\/|@\w+/g, '').match(/[A-Za-z_]\w*/g) ?? []).filter((word) => !KEYWORDS.test(word))

describe('saved queries', () => {
  it('are those that the runbook names', () => {
    const documented = [...OPERATIONS.matchAll(/(?:query|queries)((?:,?\s(?:and\s)?`[a-z-]+`)+)/g)].flatMap(
      ([, names = '']) => [...names.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name),
    )
    const prefix = 'container-file-promotion-prod/'
    for (const { name } of queries) expect(name.startsWith(prefix), name).toBe(true)
    expectDocumentedNames(`${PAGE}, Alarms`, {
      documented: [...new Set(documented)],
      expected: queries.map(({ name }) => name.slice(prefix.length)),
      line: (name) => `the query \`${name}\` where it helps`,
    })
  })

  it('are named wherever the runbook sends somebody to a log', () => {
    const [, alarms = ''] = OPERATIONS.split('\n## Alarms\n')
    const sections = alarms.split('\n### ').slice(1)
    expect(sections.length).toBeGreaterThan(10)
    for (const section of sections) {
      const [, lookAt = ''] = /\*\*Look at:\*\*([\s\S]*?)\*\*Do:\*\*/.exec(section) ?? []
      if (/\blogs?\b/.test(lookAt)) expect(section).toMatch(/(query|queries)\s`/)
    }
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
