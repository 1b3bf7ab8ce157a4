import { type ApiDependencies, type ApiRequest, createApiHandler } from './api-handler.ts'
import { promoteContainerFileOperation } from './operations/promote-container-file.ts'
import type { PromoteContainerFilesDependencies } from './operations/promote-container-files.ts'

/** In a file of its own: the bundles of the other functions would have parts of what it loads on demand. */
export function createPromoteContainerFileHandler(deps: ApiDependencies & PromoteContainerFilesDependencies) {
  const operations = {
    promote_container_file: promoteContainerFileOperation(deps),
    promote_container_files: {
      // Loaded on demand: a promotion of one file is not to wait for it in a cold start.
      handle: async (request: ApiRequest) =>
        (await import('./operations/promote-container-files.ts')).handlePromoteContainerFiles(request, deps),
    },
  }
  return createApiHandler(operations, deps)
}
