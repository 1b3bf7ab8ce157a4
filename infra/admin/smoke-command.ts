import type { Command } from 'commander'
import { problemsFound } from './doctor/check.ts'
import type { ExitCode, Run, Session } from './session.ts'

const WORDS = { ok: 'ok', problem: 'PROBLEM', not_checked: 'not checked' } as const

interface SmokeCommandOptions {
  baseUrl?: string
  telemetry: boolean
}

export function addSmokeCommand(command: Command, run: Run): void {
  command
    .description('promote, compare, refuse, repeat, delete over HTTPS, in a workspace of its own that is removed again')
    .option('--base-url <url>', "another address than the stack's, ending in the version (https://…/v1)")
    .option('--no-telemetry', 'do not wait for log lines and metrics, which take minutes')
    .addHelpText(
      'after',
      '\nFor after a deployment. One line per check with its time. Ends with 1 when there is a problem, or something that it\nmade could not be removed again; what is left is named then.',
    )
    .action((options: SmokeCommandOptions) => run((session) => smoke(options, session)))
}

async function smoke({ baseUrl, telemetry }: SmokeCommandOptions, session: Session): Promise<ExitCode> {
  const { output, signal, target } = session
  const stores = await session.stores()
  const { baseUrlOf } = await import('./smoke/base-url.ts')
  const { runSmoke } = await import('./smoke/run-smoke.ts')
  const count = { ok: 0, problem: 0, not_checked: 0 }
  await runSmoke({
    stores,
    baseUrl: baseUrl ?? (await baseUrlOf(target, signal)),
    hasTelemetry: telemetry && !target.local,
    signal,
    onResult(result) {
      const { check, verdict, detail, durationMs } = result
      count[verdict]++
      const seconds = (durationMs / 1000).toFixed(1)
      output.tell(`${WORDS[verdict].padEnd(11)} ${seconds.padStart(6)} s  ${check.padEnd(30)}  ${detail}`, result)
      output.progress('checking')
    },
  })
  signal.throwIfAborted()
  if (!output.isJson) {
    output.tell(`\n${problemsFound(count.problem)}; ${count.ok} ok, ${count.not_checked} not checked.`, {})
  }
  return count.problem === 0 ? 0 : 1
}
