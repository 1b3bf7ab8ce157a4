import { createHash } from 'node:crypto'

/** Base58 of 16 bytes, as lib/ids.ts makes them; alone, or at the end of a longer id or key. */
const MADE_ID = /[1-9A-HJ-NP-Za-km-z]{21,22}(?![1-9A-HJ-NP-Za-km-z])/g

/**
 * Tells values apart by what they mean: an id is named after the process that was the first to send it. So two schedules
 * that lead to the same state lead to the same text. Moments need no names: all explorations begin at the same one.
 */
export class Canonical {
  readonly #names = new Map<string, string>()
  readonly #made = new Map<number, number>()

  /** @param sent what a process sends: the ids in it that are new are its own */
  introduce(sent: unknown, sender: number): void {
    const { attemptId, releaseId } = (sent ?? {}) as { attemptId?: string; releaseId?: string }
    for (const id of [attemptId, releaseId]) {
      if (id === undefined || this.#names.has(id)) continue
      const count = (this.#made.get(sender) ?? 0) + 1
      this.#made.set(sender, count)
      this.#names.set(id, `<${sender}.${count}>`)
    }
  }

  text(value: unknown): string {
    return JSON.stringify(value).replace(MADE_ID, (id) => this.#names.get(id) ?? id)
  }
}

export const hashOf = (text: string): string => createHash('sha1').update(text).digest('base64')
