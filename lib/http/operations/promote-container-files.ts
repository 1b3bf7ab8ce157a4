import type { APIGatewayProxyResult } from 'aws-lambda'
import { requirePermission } from '../../auth/authenticate.ts'
import { tryToReadUsage } from '../../documents/try-to-read-usage.ts'
import { formatFileId } from '../../ids.ts'
import type { Metrics } from '../../metrics.ts'
import { type PromotionOfManyDependencies, promoteContainerFiles } from '../../promotion/promote-container-files.ts'
import type { ApiRequest } from '../api-handler.ts'
import { fileResponse, storageUsageHeaders } from '../file-response.ts'
import { chooseShape } from '../file-shape.ts'
import { readFilesToPromote } from '../files-to-promote.ts'
import { itemsThatFit } from '../items-that-fit.ts'
import { describeError } from '../middleware/answer-errors.ts'
import { isNearlyFull } from './promote-container-file.ts'

export type PromoteContainerFilesDependencies = PromotionOfManyDependencies & { metrics: Metrics }

/** POST /v1/containers/{container_id}/promote (docs/openapi.yaml, promoteContainerFiles) */
export async function handlePromoteContainerFiles(
  { event, caller, state, ...request }: ApiRequest,
  deps: PromoteContainerFilesDependencies,
): Promise<APIGatewayProxyResult> {
  const answerShape = chooseShape(event)
  const wanted = { ...readFilesToPromote(event), containerId: event.pathParameters?.container_id }
  if ('prefix' in wanted.files) requirePermission(caller, 'containers:read')
  const promotion = await promoteContainerFiles({ ...state, ...request, ...wanted, caller }, deps)
  const { done, listed, next } = promotion
  const { log, deadline } = state
  const usage = promotion.usage ?? (await tryToReadUsage({ ...caller, log }, deps, deadline.signal))

  const of = (wanted: string) => done.filter(({ outcome }) => outcome === wanted)
  const [promoted, kept, refused] = [of('promoted'), of('kept'), of('refused')]
  state.telemetry.annotate({ promoted: promoted.length, kept: kept.length, refused: refused.length })
  const PromotedBytes = promoted.reduce((bytes, { document }) => bytes + (document?.sizeBytes ?? 0), 0)
  state.counts = {
    ...(promoted.length > 0 && { Promotions: promoted.length, PromotedBytes }),
    ...(promoted.length > 0 && isNearlyFull(usage) && { QuotaNearlyFull: 1 }),
    ...(kept.length > 0 && { Replays: kept.length }),
  }
  for (const errors of Map.groupBy(refused, ({ error }) => error?.reason).values()) {
    const [{ error } = {}] = errors
    const metric = error && error.status >= 500 ? 'Failures' : 'Refusals'
    if (error) deps.metrics.publish({ [metric]: errors.length }, { reason: error.reason })
  }
  const items = listed.map(({ path, outcome, document, error }) => ({
    path,
    file_id: formatFileId(path),
    outcome,
    ...(document && { document: fileResponse(document, answerShape) }),
    ...(error && { error: describeError(error) }),
  }))
  const data = itemsThatFit(items)
  const nextAfter = data.length < items.length ? data.at(-1)?.file_id : next
  return {
    statusCode: 200,
    headers: { ...(usage && storageUsageHeaders(usage.quotaBytes, usage.usedBytes)) },
    body: JSON.stringify({ object: 'list', data, has_more: nextAfter !== undefined, next: nextAfter ?? null }),
  }
}
