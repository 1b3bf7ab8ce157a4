import { requirePermission } from '../../auth/caller.ts'
import { tryToReadUsage } from '../../documents/try-to-read-usage.ts'
import { REASONS } from '../../errors.ts'
import { type FilePath, formatFileId } from '../../ids.ts'
import type { Metrics } from '../../metrics.ts'
import {
  MOST_FILES,
  type PromotionOfManyDependencies,
  type PromotionOfManyRequest,
  promoteContainerFiles,
} from '../../promotion/promote-container-files.ts'
import { answer, describeOutcomes, usageHeaders } from '../answers.ts'
import type { Operations } from '../api-handler.ts'
import { type Body, problemInText, readPath, refuseBody } from '../body.ts'
import { readExpiresIn } from '../headers.ts'
import { describeError } from '../middleware/answer-errors.ts'
import { fileResponse } from '../shapes.ts'
import { countsOf } from './promotion-operations.ts'

export function promotionOfManyOperations(deps: PromotionOfManyDependencies & { metrics: Metrics }) {
  return {
    async promote_container_files({ event, caller, state, answerShape, body, ...request }) {
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
      const list = describeOutcomes(data, { next, waiting, pauseMs: request.pauseMs })
      return answer({ ...list, ...(isNothing && { detail }) }, usageHeaders(usage))
    },
  } satisfies Operations
}

function readFilesToPromote({ prefix, paths, after }: Body): Pick<PromotionOfManyRequest, 'files' | 'after'> {
  if (after !== undefined && typeof after !== 'string') refuseBody('after must be the next of an answer.')
  if (prefix === undefined && paths === undefined) refuseBody('It must have prefix or paths.')
  if (prefix !== undefined && paths !== undefined) refuseBody('It may have prefix or paths, not both.')
  if (paths !== undefined) return { files: { paths: readPaths(paths) }, after }
  // Before a slash at its end is the path of a folder.
  const problem =
    prefix === '' ? undefined : problemInText(typeof prefix === 'string' ? prefix.replace(/\/$/, '') : prefix)
  if (problem === undefined) return { files: { prefix: prefix as string }, after }
  return refuseBody(`prefix ${problem}.`)
}

function readPaths(paths: unknown): FilePath[] {
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MOST_FILES) {
    refuseBody(`paths must be an array of 1 to ${MOST_FILES} paths.`)
  }
  for (const [index, path] of paths.entries()) {
    readPath(path, `paths[${index}]`)
    if (paths.indexOf(path) < index) refuseBody(`paths[${index}] is there twice.`)
  }
  return paths as FilePath[]
}
