import { describe, expect, it } from 'vitest'
import { documentIdOfKey } from '../../../lib/promotion/idempotency.ts'
import { createPorts, LATE_COPY_MS, LEASE_MS, ONE_DOCUMENT, type Step, WORKSPACE } from '../../support/ports.ts'
import { newDocument } from '../../support/stores/ledger-values.ts'
import { resolve } from '../../support/unit/resolving.ts'

const { signal } = new AbortController()
const PLAIN = { settled: 0, released: 0, failed: 0, unreadable: 0, oldestMs: 0, isComplete: true }

describe('resolveWorkspace, of a promotion that died', () => {
  it.each<[string, Step[]]>([
    ['took its bytes', ['take']],
    ['had reserved beside its copy', ['take', 'reserve']],
    ['copied beside a reservation that never arrived', ['take', 'copy']],
    ['copied beside its reservation', ['take', 'reserve', 'copy']],
    ['held its bytes by the reservation alone', ['take', 'reserve', 'unmark']],
    ['had copied', ['take', 'reserve', 'unmark', 'copy']],
    ['had claimed and taken its bytes', ['claim', 'take']],
    ['had claimed, and copied beside a reservation that never arrived', ['claim', 'take', 'copy']],
    ['had copied beside its reservation, in place of its claim', ['claim', 'take', 'reserve', 'copy']],
    ['had been fenced', ['take', 'copy', 'fence']],
    ['noted a late copy, before anything else was taken back', ['take', 'reserve', 'unmark', 'copy', 'late_copy']],
  ])('%s: no object, no bytes, and no way back', async (_, steps) => {
    const ports = createPorts()
    const kept = await ports.addDocument()
    const dead = await ports.run(steps)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ failed: 0, isComplete: true })
    expect(ports.state()).toMatchObject({ used: 100, markers: 0, documents: 1 })
    // It can neither reserve nor record a document.
    const isClaimed = steps.includes('claim')
    if (!steps.includes('reserve')) expect(await ports.reservations.reserve(dead, isClaimed, signal)).toBe('refused')
    // Its copy may still arrive.
    if (!steps.includes('late_copy')) ports.putObject(dead)
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    expect(ports.objects.documents.has(kept.objectKey)).toBe(true)
    if (steps.includes('reserve')) expect(await ports.documents.record(newDocument(dead), signal)).toBe('fenced')
  })

  it.each<[string, Step[]]>([
    ['a taking', ['take']],
    ['a reservation', ['take', 'reserve', 'unmark']],
    ['a claim', ['claim']],
    ['a fence', ['take', 'fence', 'unmark']],
    ['a note of a late copy', ['late_copy']],
    ['a note of a deletion', ['deletion']],
  ])('leaves %s alone whose lease still runs', async (_, steps) => {
    const ports = createPorts()
    // So that it is due.
    await ports.addDocument()
    ports.pass(1)
    await ports.run(steps)
    const before = ports.state()
    ports.pass(LEASE_MS - 1)
    expect(await resolve(ports)).toEqual(PLAIN)
    expect(ports.state()).toEqual(before)
  })

  it('by key whose claim is gone: it gives the bytes back, and it can never reserve', async () => {
    const ports = createPorts()
    const documentId = documentIdOfKey(WORKSPACE, 'key')
    const dead = await ports.run(['take'], ports.begin({ documentId }))
    const twin = await ports.addDocument(ports.begin({ documentId }))
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ released: 1 })
    expect(await ports.reservations.reserve(dead, true, signal)).toBe('refused')
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    expect(ports.objects.documents.has(twin.objectKey)).toBe(true)
  })

  it('leaves the object of a document alone, whatever a note or a claim says', async () => {
    const ports = createPorts()
    for (const what of ['late_copy', 'fence', 'claim'] as const) {
      const leaseExpiresAtMs = ports.clock.nowMs - LATE_COPY_MS
      await ports.run([what], ports.begin({ ...(await ports.addDocument()), leaseExpiresAtMs }))
    }
    const before = ports.state()
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ settled: 3, released: 0, failed: 0 })
    expect(ports.state()).toEqual({ ...before, reservations: 0 })
    expect(before).toMatchObject({ used: 300, documents: 3, objects: 3 })
  })
})
