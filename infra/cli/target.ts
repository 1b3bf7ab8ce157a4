import { readOwnSettings } from '../deploy/settings.ts'
import { CommandError } from './command-error.ts'

/** Which deployment a command is about. */
export interface Target {
  local: boolean
  /** The data directory of the local service. */
  directory: string
  stage?: string
  region?: string
}

/** The stack of a stage, by the name that the framework gives it. */
export const stackNameOf = (stage: string) => `container-file-promotion-${stage}`

/** Makes this process's AWS clients use the target's region, found as a deployment does (infra/deploy/variables.ts). */
export function useRegionOf({ stage, region }: Target): void {
  // Other AWS tools read AWS_DEFAULT_REGION; this SDK does not.
  const found = region ?? ownRegion(stage) ?? (process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION)
  if (found) process.env.AWS_REGION = found
  // An empty value would keep the SDK from asking the profile.
  else delete process.env.AWS_REGION
}

function ownRegion(stage: string | undefined): string | undefined {
  if (stage === undefined) return undefined
  try {
    const { region } = readOwnSettings(stage)
    return region === undefined ? undefined : String(region)
  } catch (error) {
    throw new CommandError('bad_configuration', (error as Error).message, { exitCode: 2, cause: error })
  }
}
