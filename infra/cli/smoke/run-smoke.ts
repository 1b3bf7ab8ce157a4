import { outputsOf } from '../../deploy/stack.ts'
import { readDemoFile } from '../../local/stores/demo-file.ts'
import { wrongUsage } from '../command-error.ts'
import { stackNameOf, type Target } from '../connect.ts'
import { problemsFound, runCheck, VERDICTS } from '../doctor/check.ts'
import type { ExitCode, Session } from '../session.ts'
import { CHECKS } from './checks.ts'
import { newTrial, type SmokeCheck, setUp, tearDown } from './trial.ts'

type Options = Record<NonNullable<SmokeCheck['waitsFor']>, boolean> & { baseUrl?: string }

const CHECK_TIMEOUT_MS = 60_000
/** For the cleanup, and for what waits, which must be shorter. */
const LONG_TIMEOUT_MS = 200_000
/** An interrupted promotion would go on, and finish after the cleanup: Ctrl-C waits for the current check. */
const NEVER = new AbortController().signal

/** Runs every check in a workspace of its own, and removes that again, also after a failed check or Ctrl-C. */
export async function runSmoke(session: Session, { baseUrl, ...options }: Options): Promise<ExitCode> {
  const { output, signal, target } = session
  const trial = newTrial(await session.stores(), baseUrl ?? (await baseUrlOf(target, signal)))
  const count = { ok: 0, advice: 0, problem: 0, not_checked: 0 }
  const isWanted = { ...options, telemetry: options.telemetry && !target.local }
  const run = async ({ name, run, waitsFor }: SmokeCheck, timeoutMs = CHECK_TIMEOUT_MS) => {
    output.progress(name)
    const startedAtMs = performance.now()
    const result = await runCheck({ name, run: (limit) => run(trial, limit) }, timeoutMs, waitsFor ? signal : NEVER)
    const durationMs = Math.round(performance.now() - startedAtMs)
    count[result.verdict]++
    const time = `${VERDICTS[result.verdict].text.padEnd(11)} ${(durationMs / 1000).toFixed(1).padStart(6)} s`
    output.print(`${time}  ${name.padEnd(34)}  ${result.detail}`, { ...result, durationMs })
    return result.verdict
  }
  try {
    // Without this setup, every other check would fail the same way.
    const isSetUp = (await run({ name: 'workspace, key and files', run: setUp })) === 'ok'
    for (const check of isSetUp ? CHECKS : []) {
      signal.throwIfAborted()
      if (check.waitsFor === undefined) await run(check)
      else if (isWanted[check.waitsFor]) await run(check, LONG_TIMEOUT_MS)
    }
  } finally {
    await run({ name: 'everything is gone', run: tearDown }, LONG_TIMEOUT_MS)
  }
  signal.throwIfAborted()
  const summary = `\n${problemsFound(count.problem)}; ${count.ok} ok, ${count.not_checked} not checked.`
  if (!output.isJson) output.print(summary, {})
  return count.problem === 0 ? 0 : 1
}

async function baseUrlOf({ local, directory, stage }: Target, abortSignal: AbortSignal): Promise<string> {
  const demo = local ? await readDemoFile(directory) : undefined
  if (demo) return demo.base_url
  if (stage === undefined) throw wrongUsage('Say where the API is, with --stage <name>, --local or --base-url <url>.')
  // Every stack has it: without its function, this would not have come so far.
  return `${(await outputsOf(stackNameOf(stage), abortSignal)).BaseUrl}`
}
