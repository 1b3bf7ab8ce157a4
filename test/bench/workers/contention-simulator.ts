import { promoteMany } from '../contention/many-files.ts'
import { burst, overload, sustains } from '../contention/scenarios.ts'
import { serve } from '../worker.ts'

/** Each runs on a virtual clock, as fast as the machine can. */
const methods = { sustains, burst, overload, promoteMany }
export type ContentionSimulatorMethods = typeof methods

serve(methods)
