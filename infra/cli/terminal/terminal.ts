type Input = NodeJS.ReadableStream & { isTTY?: boolean }
export type TextOutput = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** Where a command reads and prints. A process is one; each stream may be a terminal or not. */
export interface Terminal {
  readonly stdin: Input
  readonly stdout: TextOutput
  readonly stderr: TextOutput
}
