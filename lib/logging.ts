import { Logger } from '@aws-lambda-powertools/logger'

/** Facts beside a log message. Never a token, a header block, a whole event or a file's content. */
export type LogFields = Readonly<Record<string, unknown>>

/** An `error` among the fields is logged with its stack and its causes. */
export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** The same log with more facts on every line. */
  with(fields: LogFields): Log
}

/** JSON lines on standard output, in the form of Powertools for AWS; the level comes from POWERTOOLS_LOG_LEVEL. */
export function createLog(serviceName: string): Log {
  return wrap(new Logger({ serviceName }))
}

function wrap(logger: Logger): Log {
  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
    // A child of its own for each request: keys appended to a shared logger would stick to the requests after it.
    with: (fields) => wrap(logger.createChild({ persistentKeys: { ...fields } })),
  }
}
