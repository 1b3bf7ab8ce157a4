import type { ContainerId, FilePath } from '../ids.ts'

/** A file in a container, as callers see it. */
export interface ContainerFileDescription {
  containerId: ContainerId
  path: FilePath
  sizeBytes: number
  modifiedAt: Date
}
