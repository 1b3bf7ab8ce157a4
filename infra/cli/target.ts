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
export async function useRegionOf({ stage, region }: Target): Promise<void> {
  // Other AWS tools read AWS_DEFAULT_REGION; this SDK does not.
  const found = region ?? (await ownRegion(stage)) ?? (process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION)
  if (found) process.env.AWS_REGION = found
  // An empty value would keep the SDK from asking the profile.
  else delete process.env.AWS_REGION
}

async function ownRegion(stage: string | undefined): Promise<string | undefined> {
  if (stage === undefined) return undefined
  const { readOwnSettings } = await import('../deploy/settings.ts')
  try {
    const { region } = readOwnSettings(stage)
    return region === undefined ? undefined : String(region)
  } catch (error) {
    throw new CommandError('bad_configuration', (error as Error).message, { exitCode: 2, cause: error })
  }
}
