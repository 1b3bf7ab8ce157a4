import { describe, expect, it } from 'vitest'
import { explore } from './explore.ts'
import { PLANTED_COUNTER_WRITES } from './planted-counter-writes.ts'
import { PLANTED_DOCUMENT_WRITES } from './planted-document-writes.ts'
import { PLANTED_READS } from './planted-reads.ts'
import { PLANTED_RESERVATION_WRITES } from './planted-reservation-writes.ts'
import { PLANTED_STEPS } from './planted-steps.ts'
import { createProtocol } from './protocol.ts'

/** What a bug takes to be found at most; most take hundreds or a few thousand. */
const MAX_STATES = 200_000

const bugs = [
  ...PLANTED_COUNTER_WRITES,
  ...PLANTED_RESERVATION_WRITES,
  ...PLANTED_DOCUMENT_WRITES,
  ...PLANTED_STEPS,
  ...PLANTED_READS,
].map((bug) => [bug.name, bug] as const)

describe('the model finds what it is for: a bug planted in the protocol', () => {
  it.each(bugs)(
    '%s',
    (_, { plant, scenario, faults = scenario.faults, breaks }) => {
      const protocol = createProtocol()
      plant(protocol)

      const { violation } = explore(protocol, { ...scenario, faults }, MAX_STATES)

      expect(violation?.invariant).toBe(breaks)
    },
    120_000,
  )
})
