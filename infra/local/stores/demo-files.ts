import type { Config } from '../../../lib/config.ts'

export type DemoFile = { path: string; contentType: string | undefined; body: Buffer }

const MIB = 1024 * 1024
const TEXT = 'text/plain; charset=utf-8'

/** Files such as tools leave in a sandbox. @param multipartThresholdBytes one of them is larger */
export function demoFiles({ multipartThresholdBytes }: Config): DemoFile[] {
  return [
    { path: 'output/report.csv', contentType: 'text/csv', body: csv(500) },
    { path: 'output/summary.txt', contentType: TEXT, body: Buffer.from('All 500 rows were read.\n') },
    // It has no type, as many tools store it; its content tells.
    { path: 'output/pixel.png', contentType: undefined, body: PNG },
    { path: 'empty.txt', contentType: 'text/plain', body: Buffer.alloc(0) },
    { path: 'отчёты/итог 2026 – 結果 📄.txt', contentType: TEXT, body: Buffer.from('Привет, 世界\n') },
    { path: 'data/large.bin', contentType: undefined, body: pattern(multipartThresholdBytes + 3 * MIB + 17) },
  ]
}

function csv(rowCount: number): Buffer {
  const rows = Array.from({ length: rowCount }, (_, i) => `${i + 1},sensor-${i % 7},${((i * 37) % 1000) / 10}`)
  return Buffer.from(`row,sensor,value\n${rows.join('\n')}\n`)
}

/** Bytes in which no two parts are alike, so that a misplaced part is noticed. */
function pattern(sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes)
  for (let offset = 0; offset + 4 <= sizeBytes; offset += 4) bytes.writeUInt32LE((offset * 2_654_435_761) >>> 0, offset)
  return bytes
}

/** One transparent pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
