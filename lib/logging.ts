import { Logger } from '@aws-lambda-powertools/logger'

/** Facts beside a log message. Never a token, a header block, a whole event or a file's content. */
export type LogFields = Readonly<Record<string, unknown>>

/** An `error` among the fields is logged with its stack and causes. */
export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  with(fields: LogFields): Log
}

/** JSON lines on standard output, in the form of Powertools for AWS; POWERTOOLS_LOG_LEVEL sets the level. */
export function createLog({ serviceName, functionName }: { serviceName: string; functionName: string }): Log {
  return wrap(new Logger({ serviceName }), { function_name: functionName })
}

/** The facts are kept here, because a key appended to the logger would stay for later requests. */
function wrap(logger: Logger, facts: LogFields): Log {
  return {
    info: (message, fields) => logger.info(message, { ...facts, ...fields }),
    warn: (message, fields) => logger.warn(message, { ...facts, ...fields }),
    error: (message, fields) => logger.error(message, { ...facts, ...fields }),
    with: (more) => wrap(logger, { ...facts, ...more }),
  }
}
