import { marshall } from '@aws-sdk/util-dynamodb'
import { expect, it } from 'vitest'
import { FINDING_KINDS } from '../../lib/audit/findings.ts'
import { keyIdOf } from '../../lib/auth/api-token.ts'
import { encodeReady } from '../../lib/aws/dynamodb/document-codec.ts'
import { REASONS } from '../../lib/errors.ts'
import { METRICS } from '../../lib/metrics.ts'
import { OPERATIONS } from '../support/api/operations.ts'
import { itemSizeBytes } from '../support/dynamodb/capacity.ts'
import { newAttempt, newDocument } from '../support/stores/ledger-values.ts'
import { read, tableRows } from './pages.ts'

const PAGE = 'docs/performance.md'
const dollars = (cell = '') => Number(/\$([\d.]+)/.exec(cell)?.[1])

it.each([
  ['## What it costs', 5],
  ['### When nobody calls it', 4],
])('prices add up, but for the rounding of each line: %s', (heading, least) => {
  const prices = tableRows(PAGE, heading)
    .slice(1)
    .map((cells) => dollars(cells.at(-1)))
  const total = prices.pop() ?? Number.NaN
  expect(prices.length).toBeGreaterThan(least)
  expect(Math.abs(prices.reduce((sum, price) => sum + price, -total))).toBeLessThan(0.005 * prices.length)
})

it('README has the price of a month without calls', () => {
  const [, total] = tableRows(PAGE, '### When nobody calls it').at(-1) ?? []
  expect(read('README.md').replace(/\s+/g, ' ')).toContain(`costs some $${Math.round(dollars(total))} a month`)
})

it('documents and objects of "What grows" cost what their bytes give', () => {
  const ids = { workspaceId: 'ws_acme', containerId: 'sess_demo-r4k2', createdBy: keyIdOf('ws_acme') }
  const file = { filename: 'output/report.csv', mimeType: 'text/csv', contentEncoding: undefined, sizeBytes: 2 ** 20 }
  const expiresAt = new Date('2027-11-21T09:38:35Z')
  // The number of its shard of the index of due work has two digits.
  const documentId = `file_${'2'.repeat(21)}`
  const document = newDocument(newAttempt(ids as never), { ...ids, ...file, documentId, expiresAt } as never)
  const item = marshall(encodeReady(document), { removeUndefinedValues: true })
  const keys = ['workspace_id', 'document_id', 'due_at']
  const listed = [...keys, 'listed_at', 'filename', 'mime_type', 'size_bytes', 'created_at', 'container_id']
  const bytesOf = (names: string[]) =>
    itemSizeBytes(Object.fromEntries(names.map((name) => [name, item[name] as never])))
  const bytes = itemSizeBytes(item)
  const inIndexes = bytesOf(listed) + bytesOf([...keys, 'due_shard'])
  const cells = (what: string) => tableRows(PAGE, '## What grows').find(([first]) => first?.startsWith(what)) ?? []
  const [text, , price] = cells('Documents (')
  expect(text).toContain(`(${bytes} bytes each, and ${inIndexes} in their indexes;`)
  const rounded = (number: number) => `$${Number(number.toPrecision(3)).toLocaleString('en')}`
  const count = 1e10
  expect(price).toBe(rounded((count / 2 ** 30) * (0.45 * (bytes + 100) + 0.25 * (inIndexes + 200))))
  // S3's first 50 TiB and the next 450 cost a little more.
  expect(cells('Objects')[2]).toBe(rounded((count / 1024) * 0.021 + 51_200 * 0.002 + 460_800 * 0.001))
})

it('custom metrics, at $0.30 each, cost no more than the page says', () => {
  const counts = [METRICS, FINDING_KINDS, OPERATIONS, REASONS].map((names) => Object.keys(names).length)
  const [, most] = tableRows(PAGE).find(([what]) => what?.startsWith('Custom metrics, $0.30 each')) ?? []
  expect(dollars(most)).toBeGreaterThan(0.3 * counts.reduce((sum, count) => sum + count))
})
