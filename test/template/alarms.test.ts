import { describe, expect, it } from 'vitest'
import { expectDocumentedNames, read } from '../pages/pages.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { metricsOf } from '../support/template/metric-names.ts'
import { EXISTING, packagedServices, type Resource, THRESHOLDS } from '../support/template/packages.ts'

const RUNBOOK = read('docs/runbook.md')

const [dev, prod, existing] = await packagedServices('dev', 'prod', 'existing')

describe('alarms', () => {
  const withProperties = (isWanted: (properties: Resource['Properties']) => boolean) =>
    prod.propertiesOf('AWS::CloudWatch::Alarm').filter(isWanted).map(slugOf)

  it('are few, and each has a section of the runbook that says what to do', () => {
    const alarms = prod.propertiesOf('AWS::CloudWatch::Alarm')
    expect(alarms.length).toBeLessThanOrEqual(16)
    const sections = partOf('## Alarms').split('\n### ').slice(1)
    const bySlug = new Map(
      sections.map((section) => [section.split('\n')[0]?.toLowerCase().replaceAll(' ', '-'), section]),
    )
    for (const alarm of alarms) {
      const slug = slugOf(alarm)
      expect(alarm.AlarmName).toBe(`container-file-promotion-prod-${slug}`)
      const labels = bySlug.get(slug)?.match(/(?<=^- \*\*)[\w ]+(?=:\*\*)/gm)
      expect(labels, `docs/runbook.md, Alarms: ### ${slug}`).toEqual(['Customers see', 'Look at', 'Do'])
      // CloudWatch API reference, "PutMetricAlarm": of metric math.
      expect(alarm.Metrics?.length ?? 1, slug).toBeLessThanOrEqual(10)
    }
    expect(bySlug.size).toBe(alarms.length)
  })

  it('watch as many metrics as docs/performance.md has a price for', () => {
    // Those of events are in the row of their price.
    const always = dev.propertiesOf('AWS::CloudWatch::Alarm').filter((alarm) => !/^event/.test(slugOf(alarm)))
    const count = always.flatMap(metricsOf).length
    const row = ['| Alarms: up to', count, 'metrics watched, $0.10 each | $', (count / 10).toFixed(2), '|']
    expect(read('docs/performance.md')).toContain(row.join(' ').replace('$ ', '$'))
  })

  it('watch the throttled writes of Documents and of each of its indexes, and the dashboard shows them', () => {
    const { TableName, GlobalSecondaryIndexes } = prod.resource('DocumentsTable').Properties
    const indexes = GlobalSecondaryIndexes.map(({ IndexName }: { IndexName: string }) => IndexName)
    const ofDocuments = `AWS/DynamoDB WriteThrottleEvents TableName=${TableName}`
    const watched = metricsOf(prod.resource('TableThrottlesAlarm').Properties)
    expect(watched).toContain(ofDocuments)
    const dashboard = textOf(prod.resource('Dashboard').Properties.DashboardBody)
    const onDashboard = `"WriteThrottleEvents","TableName","${TableName}","GlobalSecondaryIndexName"`
    for (const index of indexes) {
      expect(watched).toContain(`${ofDocuments} GlobalSecondaryIndexName=${index}`)
      expect(dashboard).toContain(`${onDashboard},"${index}"`)
    }
    expect(indexes.length).toBeGreaterThan(1)
  })

  it('page, or wait for the morning, as the runbook says, and those that page have a place in its order', () => {
    const telling = (topic: string) => {
      const wanted = JSON.stringify([{ Ref: topic }])
      return withProperties(({ AlarmActions, OKActions = AlarmActions }) =>
        [AlarmActions, OKActions].every((actions) => JSON.stringify(actions) === wanted),
      )
    }
    const rows = partOf('## What to promise')
      .split('\n')
      .filter((line) => line.startsWith('| **'))
    const documented = (column: number) => rows.flatMap((row) => linksIn(row.split('|')[column] ?? ''))
    const line = (slug: string) => `a link [${slug.replaceAll('-', ' ')}](#${slug})`
    const page = 'docs/runbook.md, What to promise'
    const paging = telling('AlarmTopic')
    expectDocumentedNames(`${page}, Alarms that page`, { documented: documented(3), expected: paging, line })
    const morning = { documented: documented(4), expected: telling('TicketTopic'), line }
    expectDocumentedNames(`${page}, Alarms that wait for the morning`, morning)
    expect(paging.length).toBeGreaterThan(2)
    expect(linksIn(partOf('## When several ring'))).toEqual(expect.arrayContaining(paging))
  })

  it('tell that they are over, but for those that only tell what a round of the audit has found', () => {
    const withoutEnd = withProperties(({ OKActions }) => OKActions === undefined)
    expect(withoutEnd).toEqual(['drift-or-loss', 'audit-findings'])
    expect(linksIn(partOf('## Alarms').split('\n### ')[0] ?? '')).toEqual(withoutEnd)
  })

  it('each reach the address that was given, those for the morning too', () => {
    const email = { Protocol: 'email', Endpoint: THRESHOLDS.alarmEmail }
    expect(prod.propertiesOf('AWS::SNS::Subscription')).toEqual([
      { TopicArn: { Ref: 'AlarmTopic' }, ...email },
      { TopicArn: { Ref: 'TicketTopic' }, ...email },
    ])
  })

  it('each tell existing topics, the address only what is for it', () => {
    expect(existing.idsOfType('AWS::SNS::Topic')).toEqual([])
    expect(existing.propertiesOf('AWS::SNS::Subscription')).toEqual([
      { TopicArn: EXISTING.ticketTopicArn, Protocol: 'email', Endpoint: EXISTING.ticketEmail },
    ])
    const told = existing.propertiesOf('AWS::CloudWatch::Alarm').flatMap(({ AlarmActions }) => AlarmActions)
    expect(new Set(told)).toEqual(new Set([EXISTING.alarmTopicArn, EXISTING.ticketTopicArn]))
    expect(existing.outputs.TicketTopic?.Value).toBe(EXISTING.ticketTopicArn)
  })
})

const slugOf = ({ AlarmDescription }: { AlarmDescription: string }) =>
  /Runbook: docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription)?.[1] ?? ''
const partOf = (heading: string) => (RUNBOOK.split(`\n${heading}\n`)[1] ?? '').split('\n## ')[0] ?? ''
const linksIn = (text: string) => [...text.matchAll(/\]\(#([a-z-]+)\)/g)].map(([, slug = '']) => slug)
