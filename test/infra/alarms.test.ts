import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { FINDING_KINDS } from '../../lib/maintenance/findings.ts'
import { METRICS } from '../../lib/metrics.ts'
import { expectDocumentedNames } from '../docs/pages.ts'
import { OPERATIONS } from '../support/http/operations.ts'
import { metricsOfAlarms } from '../support/package/metric-names.ts'
import {
  EXISTING,
  PACKAGING_TIMEOUT_MS,
  type Packaged,
  packagedService,
  type Resource,
  THRESHOLDS,
} from '../support/package/packages.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const RUNBOOK = readFileSync(join(DOCS, 'operations.md'), 'utf8')
const COST = readFileSync(join(DOCS, 'cost.md'), 'utf8')

let prod: Packaged
let existing: Packaged
beforeAll(async () => {
  ;[prod, existing] = await Promise.all([packagedService('prod'), packagedService('existing')])
}, PACKAGING_TIMEOUT_MS)

describe('alarms', () => {
  it('each name what happened and a section of the runbook that is there', () => {
    const alarms = prod.ofType('AWS::CloudWatch::Alarm')
    expect(alarms.length).toBeGreaterThanOrEqual(14)
    for (const { Properties } of alarms) {
      const slug = /Runbook: docs\/operations\.md#([a-z-]+)$/.exec(Properties.AlarmDescription)?.[1]
      expect(Properties.AlarmName).toMatch(new RegExp(`^container-file-promotion-prod-${slug}(-[a-z-]+)?$`))
      const heading = RUNBOOK.split('\n').find((line) => /^#+ /.test(line) && slugOf(line) === slug)
      expect(heading, `add to docs/operations.md, Alarms: ### ${slug}, with Means, Look at and Do`).toBeDefined()
    }
  })

  it('page, or wait for the morning, as the runbook says', () => {
    const told = (topic: string) =>
      prod
        .idsOfType('AWS::CloudWatch::Alarm')
        .map(prod.resource)
        .filter(({ Properties: { AlarmActions, OKActions = AlarmActions } }) => {
          const wanted = JSON.stringify([{ Ref: topic }])
          return JSON.stringify(AlarmActions) === wanted && JSON.stringify(OKActions) === wanted
        })
        .map(({ Properties }) => /#([a-z-]+)$/.exec(Properties.AlarmDescription)?.[1] ?? '')
    const [pages, tickets] = alarmsOfRunbook()
    expect(pages.length).toBeGreaterThan(2)
    const line = (slug: string) => `a link [${slug.replaceAll('-', ' ')}](#${slug})`
    const page = 'docs/operations.md, What to promise'
    expectDocumentedNames(`${page}, Alarms that page`, { documented: pages, expected: told('AlarmTopic'), line })
    const morning = `${page}, Alarms that wait for the morning`
    expectDocumentedNames(morning, { documented: tickets, expected: told('TicketTopic'), line })
  })

  it('tell that they are over, but for those that only tell what a round of the audit has found', () => {
    const withoutEnd = prod
      .idsOfType('AWS::CloudWatch::Alarm')
      .filter((id) => prod.resource(id).Properties.OKActions === undefined)
    expect(withoutEnd).toEqual(['DriftAlarm', 'LostDocumentsAlarm', 'AuditFindingsAlarm', 'AuditIncompleteAlarm'])
    const [, section = ''] = /\n## Alarms\n([\s\S]*?)\n### /.exec(RUNBOOK) ?? []
    const named = [...section.matchAll(/\]\(#([a-z-]+)\)/g)].map(([, slug]) => slug)
    const slugs = withoutEnd.map((id) => /#([a-z-]+)$/.exec(prod.resource(id).Properties.AlarmDescription)?.[1])
    expect(named).toEqual(expect.arrayContaining(slugs))
  })

  it('each reach the address that was given, those for the morning too', () => {
    const email = { Protocol: 'email', Endpoint: THRESHOLDS.alarmEmail }
    expect(prod.ofType('AWS::SNS::Subscription').map(({ Properties }) => Properties)).toEqual([
      { TopicArn: { Ref: 'AlarmTopic' }, ...email },
      { TopicArn: { Ref: 'TicketTopic' }, ...email },
    ])
  })

  it('each tell existing topics, the address only what is for it', () => {
    expect(existing.idsOfType('AWS::SNS::Topic')).toEqual([])
    expect(existing.ofType('AWS::SNS::Subscription').map(({ Properties }) => Properties)).toEqual([
      { TopicArn: EXISTING.ticketTopicArn, Protocol: 'email', Endpoint: EXISTING.ticketEmail },
    ])
    const told = existing.ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties.AlarmActions)
    expect(new Set(told.flat())).toEqual(new Set([EXISTING.alarmTopicArn, EXISTING.ticketTopicArn]))
    expect(existing.outputs.TicketTopic?.Value).toBe(EXISTING.ticketTopicArn)
  })

  it('watch metrics that the service emits', () => {
    const own = metricsOfAlarms(prod.resources)
    expect(own.length).toBeGreaterThan(5)
    for (const { name, dimensions } of own) {
      expect(METRICS).toHaveProperty(name)
      expect(dimensions.service).toBe('container-file-promotion-prod')
    }
  })

  it('and custom metrics are as many as docs/cost.md prices', () => {
    const alarms = prod.ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties)
    const watched = alarms.flatMap(({ Metrics = [{ MetricStat: {} }] }) =>
      Metrics.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat !== undefined),
    )
    expect(COST).toContain(`| ${alarms.length} alarms (${watched.length} metrics), $0.10 each metric |`)
    expect(COST).toContain(`| Custom metrics: ${Object.keys(METRICS).length}, one for each`)
    expect(COST).toContain(
      `kind of finding (${FINDING_KINDS.length}) and each of the ${Object.keys(OPERATIONS).length} other operations`,
    )
  })

  it('take missing data for silence, but for what must run', () => {
    const treating = (how: string) =>
      prod
        .idsOfType('AWS::CloudWatch::Alarm')
        .filter((id) => (prod.resources[id] as Resource).Properties.TreatMissingData === how)
    expect(treating('breaching')).toEqual(['AuditFailingAlarm'])
    // FILL counts missing runs as none; the state stays what it is where there never was one.
    expect(treating('ignore')).toEqual(['ResolverFailingAlarm'])
    expect(treating('notBreaching')).toHaveLength(prod.idsOfType('AWS::CloudWatch::Alarm').length - 2)
  })
})

/** The runbook's table "What to promise": anchors of the alarms that page, and of those that wait for the morning. */
function alarmsOfRunbook(): [string[], string[]] {
  const [, section = ''] = /\n## What to promise\n([\s\S]*?)\n## /.exec(RUNBOOK) ?? []
  const rows = section.split('\n').filter((line) => /^\| \*\*/.test(line))
  const anchors = (column: number) =>
    rows.flatMap((row) =>
      [...(row.split('|')[column] ?? '').matchAll(/\]\(#([a-z-]+)\)/g)].map(([, slug = '']) => slug),
    )
  return [anchors(3), anchors(4)]
}

/** As GitHub makes anchors of headings. */
function slugOf(heading: string): string {
  return heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
}
