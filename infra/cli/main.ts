import { LOOPBACK } from '../local/loopback.ts'
import { CommandError } from './command-error.ts'
import { runCommandLine } from './command-line.ts'

const stopped = new AbortController()
// We listen only once: a second Ctrl-C ends the process at once, and the resolver finishes what it had begun.
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stopped.abort(new CommandError('stopped', `Stopped by ${name}.`, { exitCode: 2 })))
// The reader of a pipe has closed it, as in "… | head": that ends the printing, and not the work.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => code === 'EPIPE' || process.exit(2))
// With NODE_USE_ENV_PROXY, fetch would ask a proxy for what is on this machine; it reads this before each request.
process.env.no_proxy = [process.env.no_proxy ?? process.env.NO_PROXY, LOOPBACK, 'localhost'].filter(Boolean).join()

process.exitCode = await runCommandLine(process.argv.slice(2), process, stopped.signal)
