import type { APIGatewayProxyResult } from 'aws-lambda'
import { requirePermission } from '../../auth/authenticate.ts'
import { formatFileId } from '../../ids.ts'
import type { Metrics } from '../../metrics.ts'
import { type PromotionOfManyDependencies, promoteContainerFiles } from '../../promotion/promote-container-files.ts'
import type { FileOutcome } from '../../promotion/promote-one-of-many.ts'
import type { ApiRequest } from '../api-handler.ts'
import { fileResponse, storageUsageHeaders } from '../file-response.ts'
import { type AnswerShape, chooseShape } from '../file-shape.ts'
import { readFilesToPromote } from '../files-to-promote.ts'
import { itemsThatFit } from '../items-that-fit.ts'
import { describeError } from '../middleware/answer-errors.ts'
import { isNearlyFull } from './promote-container-file.ts'

export type PromoteContainerFilesDependencies = PromotionOfManyDependencies & { metrics: Metrics }

/** POST /v1/containers/{container_id}/promote (docs/openapi.yaml, promoteContainerFiles) */
export async function handlePromoteContainerFiles(
  { event, caller, state, rateLimitPassed, countFiles }: ApiRequest,
  deps: PromoteContainerFilesDependencies,
): Promise<APIGatewayProxyResult> {
  const answerShape = chooseShape(event)
  const { files, after } = readFilesToPromote(event)
  if ('prefix' in files) requirePermission(caller, 'containers:read')
  const { deadline, log, telemetry } = state
  const containerId = event.pathParameters?.container_id
  const request = { caller, containerId, files, after, rateLimitPassed, countFiles, deadline, log, telemetry }
  const { outcomes, next, usage } = await promoteContainerFiles(request, deps)
  const counts = { promoted: 0, kept: 0, refused: 0 }
  let promotedBytes = 0
  const errors = new Map<string, { metric: 'Refusals' | 'Failures'; count: number }>()
  for (const { outcome, document, error } of outcomes) {
    counts[outcome]++
    if (outcome === 'promoted') promotedBytes += document?.sizeBytes ?? 0
    if (!error) continue
    const { count } = errors.get(error.reason) ?? { count: 0 }
    errors.set(error.reason, { metric: error.status < 500 ? 'Refusals' : 'Failures', count: count + 1 })
  }
  telemetry.annotate(counts)
  for (const [reason, { metric, count }] of errors) deps.metrics.publish({ [metric]: count }, { reason })
  state.counts = {
    ...(counts.promoted > 0 && { Promotions: counts.promoted, PromotedBytes: promotedBytes }),
    ...(counts.promoted > 0 && isNearlyFull(usage) && { QuotaNearlyFull: 1 }),
    ...(counts.kept > 0 && { Replays: counts.kept }),
  }
  const data = itemsThatFit(outcomes.map((outcome) => itemOf(outcome, answerShape)))
  const isCut = data.length < outcomes.length
  const nextAfter = isCut ? data.at(-1)?.file_id : next
  return {
    statusCode: 200,
    headers: { ...(usage && storageUsageHeaders(usage.quotaBytes, usage.usedBytes)) },
    body: JSON.stringify({ object: 'list', data, has_more: nextAfter !== undefined, next: nextAfter ?? null }),
  }
}

function itemOf({ path, outcome, document, error }: FileOutcome, answerShape: AnswerShape) {
  return {
    path,
    file_id: formatFileId(path),
    outcome,
    ...(document && { document: fileResponse(document, answerShape) }),
    ...(error && { error: describeError(error) }),
  }
}
