import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { partRange, planParts } from '../../../lib/aws/s3/copy-plan.ts'
import { assertProperty } from '../../support/assert-property.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const SETTINGS = { multipartThresholdBytes: 64 * MIB }

describe('planParts', () => {
  it.each([0, 1, 64 * MIB])('copies %d bytes whole', (sizeBytes) => {
    expect(planParts(sizeBytes, SETTINGS)).toBeUndefined()
  })

  it.each([
    [64 * MIB + 1, 32 * MIB + 1, 2],
    [100 * MIB, Math.ceil((100 * MIB) / 3), 3],
    [256 * MIB, 32 * MIB, 8],
    [GIB, 64 * MIB, 16],
    [5 * GIB, 128 * MIB, 40],
    [10 * GIB, 160 * MIB, 64],
    [50 * GIB, 800 * MIB, 64],
    [1024 * GIB, Math.ceil((1024 * GIB) / 205), 205],
  ])('copies %d bytes in parts of %d, %d of them', (sizeBytes, partBytes, partCount) => {
    expect(planParts(sizeBytes, SETTINGS)).toEqual({ partBytes, partCount })
  })

  it('copies whole what does not make two parts, unless only parts can carry it', () => {
    const settings = { multipartThresholdBytes: 5 * MIB }
    expect(planParts(10 * MIB - 1, settings)).toBeUndefined()
    expect(planParts(10 * MIB, settings)).toEqual({ partBytes: 5 * MIB, partCount: 2 })
    const largest = { multipartThresholdBytes: 5 * GIB }
    expect(planParts(5 * GIB, largest)).toBeUndefined()
    expect(planParts(5 * GIB + 1, largest)).toEqual({ partBytes: 2.5 * GIB + 1, partCount: 2 })
  })

  it('refuses what S3 cannot hold: more than 10,000 parts of 5 GiB', () => {
    expect(planParts(10_000 * 5 * GIB, SETTINGS)).toEqual({ partBytes: 5 * GIB, partCount: 10_000 })
    expect(() => planParts(10_000 * 5 * GIB + 1, SETTINGS)).toThrow(RangeError)
  })

  it('keeps to the bounds of S3, and its parts make up the whole without a gap', async () => {
    await assertProperty(
      fc.property(fc.maxSafeNat(), (seed) => {
        const sizeBytes = 64 * MIB + 1 + (seed % (40 * 1024 * GIB))
        const plan = planParts(sizeBytes, SETTINGS)
        if (!plan) throw new Error('above the threshold there is a plan')
        expect(plan.partCount).toBeLessThanOrEqual(10_000)
        expect(plan.partBytes).toBeGreaterThanOrEqual(32 * MIB)
        expect(plan.partBytes).toBeLessThanOrEqual(5 * GIB)
        const last = partRange(plan.partCount, plan.partBytes, sizeBytes)
        expect(last.lastByte).toBe(sizeBytes - 1)
        expect(last.firstByte).toBeLessThanOrEqual(last.lastByte)
        const beforeLast = partRange(plan.partCount - 1, plan.partBytes, sizeBytes)
        expect(beforeLast.lastByte).toBe(last.firstByte - 1)
        expect(partRange(1, plan.partBytes, sizeBytes).firstByte).toBe(0)
      }),
      { numRuns: 2000 },
    )
  })
})
