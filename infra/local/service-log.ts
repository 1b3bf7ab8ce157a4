import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { printable } from '../text/printable.ts'
import type { ServedRequest } from './gateway.ts'

/** The lines that people read while the service runs, and the file with everything else. */
export interface ServiceLog {
  readonly file: string
  /** What the functions and their host print. */
  fromFunctions(text: string): void
  request(request: ServedRequest): void
  /** A line for people. */
  say(line: string): void
}

/** Each start begins a new file. @param options.print shows a line to people */
export function createServiceLog(options: {
  directory: string
  isVerbose: boolean
  print(line: string): void
  /** Receives what the file system says when the file cannot be written. */
  onTrouble(error: Error): void
}): ServiceLog {
  const file = join(options.directory, 'service.log')
  const stream = createWriteStream(file, { mode: 0o600 })
  stream.on('error', options.onTrouble)
  let rest = ''
  const say = (line: string) => {
    const stamped = `${new Date().toTimeString().slice(0, 8)}  ${printable(line)}`
    stream.write(`${stamped}\n`)
    options.print(stamped)
  }
  return {
    file,
    say,
    fromFunctions(text) {
      stream.write(text)
      if (options.isVerbose) options.print(text.trimEnd())
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const told = tellResolver(line)
        if (told !== undefined) say(told)
      }
    },
    request({ method, path, status, durationMs, reason }) {
      const why = reason === undefined ? '' : `  ${reason}`
      const where = status < 500 ? '' : `  (more in ${file})`
      say(`${method}  ${path}  ${status}  ${Math.round(durationMs)} ms${why}${where}`)
    },
  }
}

/** A line about the resolver, if this log line is about it and it did anything. */
export function tellResolver(line: string): string | undefined {
  if (!line.includes('"reservations looked through"')) return undefined
  const { settled = 0, released = 0, failed = 0 } = JSON.parse(line) as Record<string, number | undefined>
  if (settled + released + failed === 0) return undefined
  const left = failed === 0 ? '' : `, ${failed} left to the next run`
  return `resolver: of promotions that were interrupted, ${settled} finished and ${released} undone${left}`
}
