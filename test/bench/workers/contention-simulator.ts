import type { ServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { promoteMany } from '../contention/many-files.ts'
import { burst, overload, sustains } from '../contention/scenarios.ts'
import { serve } from '../worker.ts'

type Scenario<Options, Result> = (options: Options, definition: ServiceDefinition) => Promise<Result>

const withDefinition =
  <Options, Result>(scenario: Scenario<Options, Result>) =>
  ({ definition, ...options }: Options & { definition: ServiceDefinition }) =>
    scenario(options as Options, definition)

/** Each runs on a virtual clock, as fast as the machine can. */
const methods = {
  sustains: withDefinition(sustains),
  burst: withDefinition(burst),
  overload: withDefinition(overload),
  promoteMany: withDefinition(promoteMany),
}
export type ContentionSimulatorMethods = typeof methods

serve(methods)
