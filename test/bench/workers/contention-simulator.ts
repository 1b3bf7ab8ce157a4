import type { ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { atRest, burst, overload, refusals, sustains } from '../contention/scenarios.ts'
import { serve } from '../worker.ts'

/** Each runs on a virtual clock, as fast as the machine can. */
const methods = {
  sustains: ({ definition, ...options }: Parameters<typeof sustains>[0] & { definition: ServiceDefinition }) =>
    sustains(options, definition),
  burst: ({ definition, ...options }: Parameters<typeof burst>[0] & { definition: ServiceDefinition }) =>
    burst(options, definition),
  overload: ({ definition, ...options }: Parameters<typeof overload>[0] & { definition: ServiceDefinition }) =>
    overload(options, definition),
  refusals: ({ definition, ...options }: Parameters<typeof refusals>[0] & { definition: ServiceDefinition }) =>
    refusals(options, definition),
  atRest,
}
export type ContentionSimulatorMethods = typeof methods

serve(methods)
