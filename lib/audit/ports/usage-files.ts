/** Where the rounds of the audit leave how much each workspace uses. */
export interface UsageFiles {
  /** Replaces a file of that name. @param name below `usage/` */
  write(name: string, text: string, signal: AbortSignal): Promise<void>
}
