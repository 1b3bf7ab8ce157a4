/** Why a command ends without being done. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  /** For programs. */
  readonly reason: string
  /** 1: the service is not as the command needs it; 2: the command could not be carried out. */
  readonly exitCode: 1 | 2

  constructor(reason: string, message: string, options: { exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.reason = reason
    this.exitCode = options.exitCode ?? 1
  }
}
