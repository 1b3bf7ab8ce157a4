import { outputsOf } from '../../deploy/stack.ts'
import { readDemoFile } from '../../local/stores/demo-file.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import { problem, problemsFound, runCheck, VERDICTS } from '../doctor/check.ts'
import type { ExitCode, Session } from '../session.ts'
import { stackNameOf, type Target } from '../target.ts'
import { CHECKS } from './checks.ts'
import { TELEMETRY_CHECKS } from './telemetry.ts'
import { newTrial, type SmokeCheck, setUp, type Trial, tearDown } from './trial.ts'

export interface SmokeOptions {
  baseUrl?: string
  telemetry: boolean
}

const CHECK_TIMEOUT_MS = 60_000
/** Must be longer than telemetry.ts waits. */
const TELEMETRY_TIMEOUT_MS = 200_000
const CLEARING_TIMEOUT_MS = 120_000
/** An interrupted promotion would go on, and finish after the cleanup: Ctrl-C waits for the current check. */
const NEVER = new AbortController().signal

/** Runs every check in a workspace of its own, and removes that again, also after a failed check or Ctrl-C. */
export async function runSmoke(session: Session, { baseUrl, telemetry }: SmokeOptions): Promise<ExitCode> {
  const { output, signal, target } = session
  const trial = newTrial(await session.stores(), baseUrl ?? (await baseUrlOf(target, signal)))
  const count = { ok: 0, advice: 0, problem: 0, not_checked: 0 }
  const run = async ({ name, run }: SmokeCheck, timeoutMs: number, interruption: AbortSignal) => {
    output.progress(name)
    const startedAtMs = performance.now()
    const result = await runCheck({ name, run: (limit) => run(trial, limit) }, timeoutMs, interruption)
    const durationMs = Math.round(performance.now() - startedAtMs)
    count[result.verdict]++
    const time = `${VERDICTS[result.verdict].text.padEnd(11)} ${(durationMs / 1000).toFixed(1).padStart(6)} s`
    output.print(`${time}  ${name.padEnd(34)}  ${result.detail}`, { ...result, durationMs })
    return result.verdict
  }
  try {
    // Without this setup, every other check would fail the same way.
    const isSetUp = (await run({ name: 'workspace, key and files', run: setUp }, CHECK_TIMEOUT_MS, NEVER)) === 'ok'
    for (const check of isSetUp ? CHECKS : []) {
      signal.throwIfAborted()
      await run(check, CHECK_TIMEOUT_MS, NEVER)
    }
    const isLogged = isSetUp && telemetry && !target.local
    for (const check of isLogged ? TELEMETRY_CHECKS : []) await run(check, TELEMETRY_TIMEOUT_MS, signal)
  } finally {
    await run({ name: 'everything is gone', run: clear }, CLEARING_TIMEOUT_MS, NEVER)
  }
  signal.throwIfAborted()
  const summary = `\n${problemsFound(count.problem)}; ${count.ok} ok, ${count.not_checked} not checked.`
  if (!output.isJson) output.print(summary, {})
  return count.problem === 0 ? 0 : 1
}

async function clear(trial: Trial, signal: AbortSignal) {
  const left = await tearDown(trial, signal)
  if (left.length > 0) return problem(`left behind: ${left.join('; ')}`)
  return 'workspace, key, files and documents were removed'
}

async function baseUrlOf({ local, directory, stage }: Target, abortSignal: AbortSignal): Promise<string> {
  const demo = local ? await readDemoFile(directory) : undefined
  if (demo) return demo.base_url
  if (stage === undefined) throw wrongUsage('Say where the API is, with --stage <name>, --local or --base-url <url>.')
  const StackName = stackNameOf(stage)
  const { BaseUrl } = await outputsOf(StackName, abortSignal)
  if (BaseUrl) return BaseUrl
  throw new CommandError('not_deployed', `The stack ${StackName} has no output BaseUrl.`, { exitCode: 2 })
}
