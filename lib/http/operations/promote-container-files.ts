import type { APIGatewayProxyResult } from 'aws-lambda'
import { requirePermission } from '../../auth/authenticate.ts'
import { tryToReadUsage } from '../../documents/try-to-read-usage.ts'
import { REASONS } from '../../errors.ts'
import { formatFileId } from '../../ids.ts'
import type { Metrics } from '../../metrics.ts'
import { type PromotionOfManyDependencies, promoteContainerFiles } from '../../promotion/promote-container-files.ts'
import type { ApiRequest } from '../api-handler.ts'
import { readExpiresIn } from '../expires-in.ts'
import { fileResponse, storageUsageHeaders } from '../file-response.ts'
import { readFilesToPromote } from '../files-to-promote.ts'
import { describeError } from '../middleware/answer-errors.ts'
import { countsOf } from './promote-container-file.ts'

export type PromoteContainerFilesDependencies = PromotionOfManyDependencies & { metrics: Metrics }

/** POST /v1/containers/{container_id}/promote (docs/openapi.yaml, promoteContainerFiles) */
export async function handlePromoteContainerFiles(
  { event, caller, state, answerShape, body, ...request }: ApiRequest,
  deps: PromoteContainerFilesDependencies,
): Promise<APIGatewayProxyResult> {
  const expiresInSeconds = readExpiresIn(event, body)
  const wanted = { ...readFilesToPromote(body), expiresInSeconds, containerId: event.pathParameters?.container_id }
  if ('prefix' in wanted.files) requirePermission(caller, 'containers:read')
  const { outcomes, listed, next, waiting, ...known } = await promoteContainerFiles(
    { ...state, ...request, ...wanted, caller },
    deps,
  )
  const usage = known.usage ?? (await tryToReadUsage({ ...state, ...caller }, deps, state.deadline.signal))

  const promoted = outcomes.filter(({ outcome }) => outcome === 'promoted')
  const kept = outcomes.filter(({ outcome }) => outcome === 'kept')
  const errors = outcomes.flatMap(({ error }) => error ?? [])
  state.telemetry.annotate({ promoted: promoted.length, kept: kept.length, refused: errors.length })
  const promotedBytes = promoted.reduce((bytes, { document }) => bytes + (document?.sizeBytes ?? 0), 0)
  state.counts = {
    ...(promoted.length > 0 && countsOf(promoted.length, promotedBytes, usage)),
    ...(kept.length > 0 && { Replays: kept.length }),
  }
  for (const [reason, { length }] of Map.groupBy(errors, ({ reason }) => reason)) {
    deps.metrics.publish({ [REASONS[reason].status < 500 ? 'Refusals' : 'Failures']: length }, { reason })
  }
  // A hundred of them fit into an answer, whatever their paths.
  const data = listed.map(({ path, outcome, document, error }) => ({
    path,
    file_id: formatFileId(path),
    outcome,
    ...(document && { document: fileResponse(document, answerShape) }),
    ...(error && { error: describeError(error, { retry_after_seconds: error.retryAfterSeconds }) }),
  }))
  const isNothing = data.length === 0 && next === undefined && body.after === undefined
  const detail = `The container has no file whose path begins with ${JSON.stringify(body.prefix)}.`
  // Not as Retry-After: that means nothing on a 200 (RFC 9110 §10.2.3).
  const pauseMs = next === undefined ? 0 : request.pauseMs(Math.max(1, waiting))
  return {
    statusCode: 200,
    headers: { ...(usage && storageUsageHeaders(usage.quotaBytes, usage.usedBytes)) },
    body: JSON.stringify({
      object: 'list',
      data,
      has_more: next !== undefined,
      next: next ?? null,
      ...(pauseMs > 0 && { retry_after_seconds: Math.ceil(pauseMs / 1000) }),
      ...(isNothing && { detail }),
    }),
  }
}
