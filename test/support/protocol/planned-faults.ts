import type { ProcessFault } from './breakable-transport.ts'
import { faultsFor } from './fault-kinds.ts'

/** One call of a run: the n-th of its name. */
export interface Step {
  call: string
  occurrence: number
}
export interface PlannedFault extends Step {
  what: string
  fault: ProcessFault
}

/** Each fault that its call can have, at each of the steps. */
export const faultsAt = (steps: Step[]): PlannedFault[] =>
  steps.flatMap((step) => faultsFor(step.call).map(([what, fault]) => ({ ...step, what, fault })))

/** S3 calls that hang take all the time that is left; DynamoDB calls that hang are sent again. */
export function isEndedByDeadline({ call, fault }: PlannedFault): boolean {
  return /^[A-Z]/.test(call) && ['hang', 'late', 'drip'].includes(fault.kind)
}
