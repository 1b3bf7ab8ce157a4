import type { PromotionOfManyDependencies } from '../promotion/promote-container-files.ts'
import { type ApiDependencies, type ApiRequest, createApiHandler } from './api-handler.ts'
import { promotionOperations } from './operations/promotion-operations.ts'

/** In a file of its own: the bundles of the other functions would have parts of what it loads on demand. */
export function createPromoteContainerFileHandler(deps: ApiDependencies & PromotionOfManyDependencies) {
  // Loaded on demand: a promotion of one file is not to wait for it in a cold start.
  const promote_container_files = async (request: ApiRequest) => {
    const { promotionOfManyOperations } = await import('./operations/promotion-of-many-operations.ts')
    return promotionOfManyOperations(deps).promote_container_files(request)
  }
  return createApiHandler({ ...promotionOperations(deps), promote_container_files }, deps)
}
