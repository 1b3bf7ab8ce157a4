import { Command } from 'commander'
import type { Bench } from './bench.ts'
import { BENCHES, type Ran } from './benches.ts'
import { renderTable, store } from './report.ts'

const names = BENCHES.map(({ name }) => name)

new Command('npm run bench --')
  .description('Measures what a promotion costs beyond S3 and DynamoDB (docs/performance.md). Needs a quiet machine.')
  .argument('[names...]', `which benches to run, of ${names.join(', ')}; all when none is named`)
  .option(
    '--quick',
    'only checks that the benches work, and the exact bars: tiny counts, times that mean nothing, nothing is stored',
  )
  .action(async (wanted: string[], { quick: isQuick = false }: { quick?: boolean }) => {
    const unknown = wanted.filter((name) => !names.includes(name))
    if (unknown.length > 0) throw new Error(`There is no bench ${unknown.join(', ')}: choose of ${names.join(', ')}.`)
    const chosen = BENCHES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
    const run = async (bench: Bench): Promise<Ran> => {
      showProgress(bench.name)
      const progress = (text: string) => showProgress(`${bench.name}: ${text}`)
      const each = { bench, rows: await bench.run({ isQuick, progress }) }
      if (!isQuick) await store(each, names)
      return each
    }
    // Side by side where times mean nothing.
    const ran = await (isQuick ? Promise.all(chosen.map(run)) : Array.fromAsync(chosen, run))
    showProgress('')
    console.log(renderTable(ran))
    if (isQuick) requireExactBars(ran)
  })
  .parseAsync()
  // A bar that is not met is a measurement; a bench that does not work is a failure, and so is the quick form's exact bar.
  .catch((error: Error) => {
    console.error(`\n${error.message}`)
    process.exit(1)
  })

function requireExactBars(ran: readonly Ran[]): void {
  const short = ran.flatMap(({ bench, rows }) => (bench.isExact ? rows.filter(({ isMet }) => isMet === false) : []))
  if (short.length > 0)
    throw new Error(`Short: ${short.map(({ what, measured }) => `${what}: ${measured}`).join(', ')}`)
}

/** One line that is written over and over; where nobody watches, a line each. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
  else if (text !== '') process.stderr.write(`${text}\n`)
}
