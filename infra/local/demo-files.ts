/** A file of the demonstration's containers. */
export interface DemoFile {
  path: string
  contentType: string | undefined
  body: Buffer
}

const MIB = 1024 * 1024

/** Files such as tools leave in a sandbox. @param maxFileBytes one of them is a byte larger */
export function demoFiles({
  maxFileBytes,
  multipartThresholdBytes,
}: {
  maxFileBytes: number
  multipartThresholdBytes: number
}): DemoFile[] {
  return [
    { path: 'output/report.csv', contentType: 'text/csv', body: csv(500) },
    {
      path: 'output/summary.txt',
      contentType: 'text/plain; charset=utf-8',
      body: Buffer.from('All 500 rows were read.\n'),
    },
    // Without a type, as many tools store it; the extension tells.
    { path: 'output/report.pdf', contentType: undefined, body: pdf('Promoted from a container') },
    { path: 'output/pixel.png', contentType: 'image/png', body: PNG },
    { path: 'empty.txt', contentType: 'text/plain', body: Buffer.alloc(0) },
    {
      path: 'отчёты/итог 2026 – 結果 📄.txt',
      contentType: 'text/plain; charset=utf-8',
      body: Buffer.from('Привет, 世界\n'),
    },
    { path: 'data/large.bin', contentType: undefined, body: pattern(multipartThresholdBytes + 3 * MIB + 17) },
    { path: 'data/too-large.bin', contentType: undefined, body: Buffer.alloc(maxFileBytes + 1) },
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

/** One page with one line, the offsets of its cross-reference table computed. */
function pdf(text: string): Buffer {
  const stream = `BT /F1 24 Tf 72 720 Td (${text}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let text_ = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text_.length
    text_ += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const start = text_.length
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`
  return Buffer.from(
    `${text_}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`,
  )
}

/** One transparent pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
