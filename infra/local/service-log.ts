import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { ServedRequest } from './gateway/gateway.ts'
import { printable } from './printable.ts'

/** The lines that people read while the service runs, and a file with everything else, new at each start. */
export function createServiceLog(options: { directory: string; isVerbose: boolean; print(line: string): void }) {
  const file = join(options.directory, 'service.log')
  const stream = createWriteStream(file, { mode: 0o600 })
  stream.on('error', ({ message }) => options.print(message))
  const say = (line: string) => {
    const stamped = `${new Date().toTimeString().slice(0, 8)}  ${printable(line)}`
    stream.write(`${stamped}\n`)
    options.print(stamped)
  }
  return {
    file,
    say,
    fromFunctions(text: string) {
      stream.write(text)
      if (options.isVerbose) options.print(text.trimEnd())
    },
    request({ method, path, status, durationMs, reason }: ServedRequest) {
      const why = reason === undefined ? '' : `  ${reason}`
      const where = status < 500 ? '' : `  (more in ${file})`
      say(`${method}  ${path}  ${status}  ${Math.round(durationMs)} ms${why}${where}`)
    },
  }
}
