/** States of one length, each once, in the order in which they came. All are kept, in full: no two are ever confused. */
export class StateStore {
  count = 0
  readonly #length: number
  readonly #blocks: Uint8Array[] = []
  readonly #parents: Uint32Array[] = []
  #table = new Uint32Array(1 << 16)

  constructor(length: number) {
    this.#length = length
  }

  /** The bytes of a state begin at {@link offsetOf} in this block. */
  blockOf(index: number): Uint8Array {
    return this.#blocks[index >>> BLOCK_BITS] as Uint8Array
  }

  offsetOf(index: number): number {
    return (index & BLOCK_MASK) * this.#length
  }

  /** The state from which it was first reached. */
  parentOf(index: number): number {
    return (this.#parents[index >>> BLOCK_BITS] as Uint32Array)[index & BLOCK_MASK] as number
  }

  add(state: Uint8Array, parent: number): void {
    if (this.count * 2 > this.#table.length) this.#grow()
    const slot = this.#slotOf(state)
    if (this.#table[slot] !== 0) return
    if ((this.count & BLOCK_MASK) === 0) {
      this.#blocks.push(new Uint8Array(this.#length << BLOCK_BITS))
      this.#parents.push(new Uint32Array(1 << BLOCK_BITS))
    }
    const index = this.count++
    this.#table[slot] = this.count
    this.blockOf(index).set(state, this.offsetOf(index))
    ;(this.#parents[index >>> BLOCK_BITS] as Uint32Array)[index & BLOCK_MASK] = parent
  }

  isAt(index: number, state: Uint8Array): boolean {
    const block = this.blockOf(index)
    const offset = this.offsetOf(index)
    for (let at = 0; at < this.#length; at++) if (block[offset + at] !== state[at]) return false
    return true
  }

  /** Where the state is in the table, or has its place. */
  #slotOf(state: Uint8Array): number {
    const mask = this.#table.length - 1
    for (let slot = this.#hash(state, 0) & mask; ; slot = (slot + 1) & mask) {
      const found = this.#table[slot] as number
      if (found === 0 || this.isAt(found - 1, state)) return slot
    }
  }

  /** FNV-1a, finished as MurmurHash3 does. */
  #hash(bytes: Uint8Array, offset: number): number {
    let hash = 0x811c9dc5
    for (let at = 0; at < this.#length; at++) hash = Math.imul(hash ^ (bytes[offset + at] as number), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return (hash ^ (hash >>> 16)) >>> 0
  }

  #grow(): void {
    const table = new Uint32Array(this.#table.length * 2)
    const mask = table.length - 1
    for (let index = 0; index < this.count; index++) {
      let slot = this.#hash(this.blockOf(index), this.offsetOf(index)) & mask
      while (table[slot] !== 0) slot = (slot + 1) & mask
      table[slot] = index + 1
    }
    this.#table = table
  }
}

const BLOCK_BITS = 16
const BLOCK_MASK = (1 << BLOCK_BITS) - 1
