export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly reason: string
  /** 1: the service is not in the state that the command needs; 2: the command could not be carried out. */
  readonly exitCode: 1 | 2

  constructor(reason: string, message: string, { exitCode = 1, cause }: { exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.reason = reason
    this.exitCode = exitCode
  }
}

export const wrongUsage = (message: string) => new CommandError('wrong_usage', message, { exitCode: 2 })
