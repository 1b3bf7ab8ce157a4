/** Every byte differs from its neighbours and every 5 MiB from the next: a misplaced part shows. */
export function patternBytes(sizeBytes: number): Buffer {
  const words = new Uint32Array(Math.ceil(sizeBytes / 4))
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i + 1, 2_654_435_761)
  return Buffer.from(words.buffer).subarray(0, sizeBytes)
}
