import { expect, it } from 'vitest'
import type { DocumentId } from '../../../lib/ids.ts'
import { createPorts, WORKSPACE } from '../../support/ports.ts'
import { newDocument } from '../../support/stores/ledger-values.ts'
import { runAudit } from '../../support/unit/run-audit.ts'

const { signal } = new AbortController()

it('the audit of a large workspace streams: a million documents do not fill memory', { timeout: 120_000 }, async () => {
  const ports = createPorts({ defaultQuotaBytes: 1e9 })
  const count = 1_000_000
  const document = newDocument(ports.begin())
  const keyOf = (i: number) => `documents/ws_1/file_${String(i).padStart(7, '0')}/a`
  const every = async function* <Element>(make: (i: number) => Element) {
    for (let i = 0; i < count; i++) yield make(i)
  }
  const itemOf = (i: number) => {
    const documentId = `file_${i}` as DocumentId
    return { ...document, documentId, itemId: documentId, objectKey: keyOf(i) }
  }
  const documents = { ...ports.documents, list: () => every(itemOf) }
  const objects = { ...ports.objects, listObjects: () => every((i) => ({ objectKey: keyOf(i), sizeBytes: 100 })) }
  await ports.deps.workspaces.correct(
    WORKSPACE,
    { counted: { usedBytes: 0, documents: 0 }, expected: { usedBytes: 100 * count, documents: count } },
    signal,
  )
  const before = process.memoryUsage().heapUsed
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().heapUsed)
  }, 5)
  const { report, findings } = await runAudit(ports, false, { documents, objects })
  clearInterval(watch)
  expect(findings).toEqual([])
  expect(report.documents).toBe(count)
  // A million documents held at once would take some 400 MB.
  expect((Math.max(peak, process.memoryUsage().heapUsed) - before) / 1024 ** 2).toBeLessThan(150)
})
