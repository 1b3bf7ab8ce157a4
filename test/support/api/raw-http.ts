import { connect } from 'node:net'
import { LOOPBACK } from '../../../infra/local/loopback.ts'

export interface RawAnswer {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: string
}

/** Never reached, however busy the machine. */
const RETRY_FOR_MS = 60_000
const INTERIM_ONLY = /^(?:HTTP\/1\.1 1\d\d [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n)+$/

/**
 * Sends bytes as they are over a connection of their own and reads what comes back until the server closes it, or until
 * nothing more comes.
 * @param quietMs after this long without a byte, the answer counts as complete
 * @param retryForMs after this long without any answer, it counts as missing
 */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  { quietMs = 150, retryForMs = RETRY_FOR_MS } = {},
): Promise<RawAnswer[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, LOOPBACK)
    const end = () => {
      clearTimeout(quiet)
      clearTimeout(patience)
      socket.destroy()
      resolve(parseAnswers(Buffer.concat(chunks)))
    }
    let quiet: NodeJS.Timeout
    const patience = setTimeout(end, retryForMs)
    socket
      .on('connect', () => socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes))
      .on('data', (chunk) => {
        chunks.push(chunk)
        clearTimeout(quiet)
        // After an interim response the answer is still to come, however long a busy machine takes for it.
        if (!INTERIM_ONLY.test(Buffer.concat(chunks).toString('latin1'))) quiet = setTimeout(end, quietMs)
      })
      .on('close', end)
      .on('error', (error: NodeJS.ErrnoException) =>
        ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? end() : reject(error),
      )
  })
}

/** Responses one after the other; interim ones (1xx) are left out. Throws on what is no HTTP. */
function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes.toString('latin1')
  while (rest !== '') {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest)
    if (head === null) throw new Error(`this is no response: ${JSON.stringify(rest.slice(0, 200))}`)
    rest = rest.slice(head[0].length)
    const headers = Object.fromEntries(
      (head[2] ?? '').split('\r\n').flatMap((line) => {
        const [, name, value] = /^([^:]+): ?(.*)$/.exec(line) ?? []
        return name === undefined ? [] : [[name.toLowerCase(), value ?? '']]
      }),
    )
    const status = Number(head[1])
    if (status < 200) continue
    const length = Math.min(Number(headers['content-length'] ?? 0), rest.length)
    // An answer to HEAD has the length of the body it leaves out.
    const isHead = rest === '' || rest.startsWith('HTTP/1.1 ')
    const body = isHead ? '' : Buffer.from(rest.slice(0, length), 'latin1').toString('utf8')
    rest = isHead ? rest : rest.slice(length)
    answers.push({ status, headers, body })
  }
  return answers
}
