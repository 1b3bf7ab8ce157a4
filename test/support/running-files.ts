import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/**
 * Keeps a file with the names of the test files that have begun and not ended, for .ci/step.mjs: a run that hangs is
 * ended from outside and reports nothing itself.
 */
export class RunningFiles implements Reporter {
  readonly #running = new Set<string>()
  readonly #path: string

  constructor(path: string) {
    this.#path = path
    mkdirSync(dirname(path), { recursive: true })
  }

  onTestModuleQueued({ relativeModuleId }: TestModule) {
    this.#running.add(relativeModuleId)
    this.#write()
  }

  onTestModuleEnd({ relativeModuleId }: TestModule) {
    this.#running.delete(relativeModuleId)
    this.#write()
  }

  #write() {
    writeFileSync(this.#path, [...this.#running].join('\n'))
  }
}
