/** States of one length, each once, in the order in which they came. All are kept, in full: no two are ever confused. */
export class StateStore {
  /** The state to be added, as bytes. */
  readonly next: Uint8Array
  count = 0
  /** Of a state, in words of four bytes: compared and hashed faster. */
  readonly #length: number
  readonly #next: Uint32Array
  readonly #blocks: Uint32Array[] = []
  readonly #bytes: Uint8Array[] = []
  readonly #parents: Uint32Array[] = []
  /** State number + 1 by hash; 0: free. */
  #table = new Uint32Array(1 << 16)

  constructor(byteLength: number) {
    this.#length = Math.ceil(byteLength / 4)
    this.#next = new Uint32Array(this.#length)
    this.next = new Uint8Array(this.#next.buffer)
  }

  /** A state begins at {@link offsetOf} in its block. */
  bytesOf(state: number): Uint8Array {
    return this.#bytes[state >>> BLOCK_BITS] as Uint8Array
  }

  offsetOf(state: number): number {
    return (state & BLOCK_MASK) * this.#length * 4
  }

  /** The state that it was first reached from. */
  parentOf(state: number): number {
    return (this.#parents[state >>> BLOCK_BITS] as Uint32Array)[state & BLOCK_MASK] as number
  }

  /** Adds {@link next}, unless it is there. */
  addNext(parent: number): void {
    if (this.count * 2 > this.#table.length) this.#grow()
    const mask = this.#table.length - 1
    let slot = hash(this.#next, 0, this.#length) & mask
    for (; this.#table[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.isNext((this.#table[slot] as number) - 1)) return
    }
    if ((this.count & BLOCK_MASK) === 0) {
      const block = new Uint32Array(this.#length << BLOCK_BITS)
      this.#blocks.push(block)
      this.#bytes.push(new Uint8Array(block.buffer))
      this.#parents.push(new Uint32Array(1 << BLOCK_BITS))
    }
    const state = this.count++
    this.#table[slot] = this.count
    this.#blockOf(state).set(this.#next, (state & BLOCK_MASK) * this.#length)
    ;(this.#parents[state >>> BLOCK_BITS] as Uint32Array)[state & BLOCK_MASK] = parent
  }

  isNext(state: number): boolean {
    const block = this.#blockOf(state)
    const offset = (state & BLOCK_MASK) * this.#length
    for (let at = 0; at < this.#length; at++) if (block[offset + at] !== this.#next[at]) return false
    return true
  }

  #blockOf(state: number): Uint32Array {
    return this.#blocks[state >>> BLOCK_BITS] as Uint32Array
  }

  #grow(): void {
    const table = new Uint32Array(this.#table.length * 2)
    const mask = table.length - 1
    for (let state = 0; state < this.count; state++) {
      const offset = (state & BLOCK_MASK) * this.#length
      let slot = hash(this.#blockOf(state), offset, offset + this.#length) & mask
      while (table[slot] !== 0) slot = (slot + 1) & mask
      table[slot] = state + 1
    }
    this.#table = table
  }
}

/** FNV-1a by words, finished as MurmurHash3 does. */
function hash(words: Uint32Array, from: number, to: number): number {
  let value = 0x811c9dc5
  for (let at = from; at < to; at++) {
    value = Math.imul(value ^ (words[at] as number), 0x01000193)
    value ^= value >>> 15
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

const BLOCK_BITS = 16
const BLOCK_MASK = (1 << BLOCK_BITS) - 1
