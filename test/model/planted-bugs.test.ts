import { describe, expect, it } from 'vitest'
import { explore } from './explore.ts'
import { PLANTED_IN_AUDIT } from './planted-audit.ts'
import { PLANTED_IN_RESOLVER } from './planted-resolver.ts'
import { PLANTED_STEPS } from './planted-steps.ts'
import { PLANTED_WRITES } from './planted-writes.ts'
import { createProtocol } from './protocol.ts'

/** What a bug takes to be found at most; most take hundreds or a few thousand. */
const MAX_STATES = 200_000

const bugs = [...PLANTED_WRITES, ...PLANTED_STEPS, ...PLANTED_IN_RESOLVER, ...PLANTED_IN_AUDIT].flatMap(
  ({ bugs, ...found }) => Object.entries(bugs).map(([name, plant]) => [name, { ...found, plant }] as const),
)

describe('the model finds what it is for: a bug planted in the protocol', () => {
  it.each(bugs)(
    '%s',
    (_, { plant, scenario, breaks }) => {
      const protocol = createProtocol()
      plant(protocol)

      const { violation } = explore(protocol, scenario, MAX_STATES)

      expect(violation?.invariant).toBe(breaks)
    },
    120_000,
  )
})
