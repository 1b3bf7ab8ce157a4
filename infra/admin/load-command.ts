import { type Command, InvalidArgumentError, Option } from 'commander'
import type { LoadReport } from './load/run-load.ts'
import { bytes } from './output.ts'
import { parseDuration, parseSize } from './parse-values.ts'
import type { ExitCode, Run, Session } from './session.ts'

const MOST_PER_SECOND = 200
const LONGEST_MS = 10 * 60_000
const LARGEST_BYTES = 64 * 1024 ** 2

interface LoadCommandOptions {
  rate: number
  duration: number
  size: number
  baseUrl?: string
}

export function addLoadCommand(command: Command, run: Run): void {
  const within = (max: number, what: string, parse: (text: string) => number) => (text: string) => {
    const value = parse(text)
    if (Number.isInteger(value) && value >= 1 && value <= max) return value
    throw new InvalidArgumentError(`"${text}" is not allowed: ${what}`)
  }
  command
    .description('promote at a steady rate over HTTPS, in a workspace of its own that is audited and removed again')
    .addOption(
      new Option('--rate <number>', `promotions a second, 1 to ${MOST_PER_SECOND}`)
        .default(10)
        .argParser(within(MOST_PER_SECOND, `1 to ${MOST_PER_SECOND} a second`, Number)),
    )
    .addOption(
      new Option('--duration <time>', 'for how long, as in 30s or 5m, at most 10m')
        .default(30_000, '30s')
        .argParser(within(LONGEST_MS, 'at most 10m', parseDuration)),
    )
    .addOption(
      new Option('--size <bytes>', 'of the file that is promoted, at most 64MiB')
        .default(64 * 1024, '64KiB')
        .argParser(within(LARGEST_BYTES, '1 byte to 64MiB', parseSize)),
    )
    .option('--base-url <url>', "another address than the stack's, ending in the version (https://…/v1)")
    .addHelpText(
      'after',
      '\nCosts what so many promotions cost (docs/cost.md). Ends with 1 when an answer was neither 200 nor 429, when the audit\nfinds something, or when something that it made could not be removed again.',
    )
    .action((options: LoadCommandOptions) => run((session) => load(options, session)))
}

async function load(options: LoadCommandOptions, session: Session): Promise<ExitCode> {
  const { output, signal, target } = session
  const stores = await session.stores()
  const { baseUrlOf } = await import('./smoke/base-url.ts')
  const { runLoad } = await import('./load/run-load.ts')
  const report = await runLoad({
    stores,
    baseUrl: options.baseUrl ?? (await baseUrlOf(target, signal)),
    rate: options.rate,
    durationMs: options.duration,
    sizeBytes: options.size,
    onProgress: output.progress,
    signal,
  })
  output.tell(describe(report, options).join('\n'), { ...report, rate: options.rate, sizeBytes: options.size })
  const isExpected = Object.keys(report.answers).every((answer) => answer === '200' || answer.startsWith('429'))
  return isExpected && report.notSent === 0 && report.findings === 0 && report.left.length === 0 ? 0 : 1
}

function describe(report: LoadReport, { size }: LoadCommandOptions): string[] {
  const { sent, durationMs, latencyMs, answers, notSent, documents, findings, left } = report
  const seconds = durationMs / 1000
  const line = (what: string, text: string) => `${what.padEnd(12)}  ${text}`
  const latency = latencyMs
    ? Object.entries(latencyMs)
        .map(([name, ms]) => `${name} ${ms} ms`)
        .join(', ')
    : 'no answer at all'
  return [
    line('promotions', `${sent} of ${bytes(size)} in ${seconds.toFixed(1)} s, ${(sent / seconds).toFixed(1)} a second`),
    ...(notSent > 0 ? [line('not sent', `${notSent}: too many were without an answer`)] : []),
    line('latency', latency),
    ...Object.entries(answers)
      .toSorted()
      .map(([answer, count]) => line('answered', `${answer}: ${count}`)),
    line('audit', `${documents} documents, ${findings === 0 ? 'nothing is wrong' : `${findings} findings`}`),
    line('removed', left.length === 0 ? 'all that was made' : `left behind: ${left.join('; ')}`),
  ]
}
