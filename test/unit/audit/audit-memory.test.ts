import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { DocumentId } from '../../../lib/ids.ts'
import { createPorts, WORKSPACE } from '../../support/ports.ts'
import { newDocument, signal } from '../../support/stores/ledger-values.ts'
import { runAudit } from '../../support/unit/run-audit.ts'

const MIB = 1024 ** 2

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
/** Without garbage: when that goes depends on the machine. */
function heldBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

it('the audit of a large workspace streams: a million documents do not fill memory', { timeout: 120_000 }, async () => {
  const ports = createPorts({ defaultQuotaBytes: 1e9 })
  const count = 1_000_000
  const document = newDocument(ports.begin())
  const keyOf = (i: number) => `documents/ws_1/file_${String(i).padStart(7, '0')}/a`
  let peak = 0
  const every = async function* <Element>(make: (i: number) => Element) {
    for (let i = 0; i < count; i++) {
      if (i % 10_000 === 9_999) await setImmediate()
      if (i % 100_000 === 99_999) peak = Math.max(peak, heldBytes())
      yield make(i)
    }
  }
  const itemOf = (i: number) => {
    const documentId = `file_${i}` as DocumentId
    return { ...document, documentId, itemId: documentId, objectKey: keyOf(i) }
  }
  const documents = { ...ports.documents, list: () => every(itemOf) }
  const objects = { ...ports.objects, listObjects: () => every((i) => ({ objectKey: keyOf(i), sizeBytes: 100 })) }
  const drift = { counted: { usedBytes: 0, documents: 0 }, expected: { usedBytes: 100 * count, documents: count } }
  await ports.deps.workspaces.correct(WORKSPACE, drift, signal)
  const before = heldBytes()
  const { report, findings } = await runAudit(ports, false, { documents, objects })
  expect(findings).toEqual([])
  expect(report.documents).toBe(count)
  // A million documents held at once would take some 400 MB.
  expect(peak).toBeGreaterThan(0)
  expect((peak - before) / MIB).toBeLessThan(50)
})
