const CELLS = 20

/** `[#####---------------] 12,345 of about 50,000`; without the bar when nobody knows how many there are. */
export function progressBar(done: number, expected: number): string {
  const count = done.toLocaleString('en')
  if (expected <= 0) return count
  const share = Math.min(1, done / expected)
  const filled = Math.floor(share * CELLS)
  const total = Math.max(done, expected).toLocaleString('en')
  return `[${'#'.repeat(filled)}${'-'.repeat(CELLS - filled)}] ${count} of about ${total}`
}
