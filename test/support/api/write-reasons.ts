import { REASONS, type Reason, ServiceError } from '../../../lib/errors.ts'

/** Reasons whose sentence says what is wrong with the request at hand. */
const WITH_OWN_SENTENCES: ReadonlySet<string> = new Set<Reason>([
  'malformed_authorization',
  'invalid_precondition',
  'permission_denied',
  'invalid_file_id',
  'invalid_body',
  'invalid_limit',
  'invalid_parameter',
  'unsupported_parameter',
  'file_not_downloadable',
])

/** `code`, `message`, `reason` and `detail` of an example, with what is before each. */
const EXAMPLE = /( +code: ).*(\n +message: ).*(\n +metadata:\n +reason: )(\w+)(\n +detail: )(.*)/g

/** Makes docs/openapi.yaml agree with REASONS: each reason has a schema and an example, with the reason's sentences. */
export function writeIntoOpenapi(text: string, documented: readonly string[]): string {
  const missing = Object.keys(REASONS).filter((reason) => !documented.includes(reason)) as Reason[]
  return missing
    .reduce((page, reason) => withExample(withName(page, reason), reason), text)
    .replace(EXAMPLE, (whole, code, message, metadata, reason, detail, own) => {
      if (!(reason in REASONS)) return whole
      const error = new ServiceError(reason)
      const sentence = WITH_OWN_SENTENCES.has(reason) ? own : quoted(error.detail)
      return `${code}${error.status}${message}${error.message}${metadata}${reason}${detail}${sentence}`
    })
}

const PLAIN = /(\n {4}PlainMetadata:\n[\s\S]*? {10}enum:\n(?: {12}- \w+\n)+)/

const withName = (page: string, reason: Reason) => page.replace(PLAIN, (list) => `${list}            - ${reason}\n`)

/** Where the promotion shows that status: from there it can be moved to the operations that give it. */
function withExample(page: string, reason: Reason): string {
  const { status, message, detail } = new ServiceError(reason)
  const [before, promote = '', ...after] = page.split(/(?<=\n)(?= {2}\/)/)
  const answers = promote.split(/(?<=\n)(?= {8}"\d{3}":)/)
  const example = `                ${reason}:
                  summary: ${quoted(detail.replace(/\.$/, ''))}
                  value:
                    error:
                      code: ${status}
                      message: ${message}
                      metadata:
                        reason: ${reason}
                        detail: ${quoted(detail)}
                    service_metadata: { request_id: fc0e39d6-28fa-4857-b267-fbaf97862d8a }
                    user_id: user_1
`
  const shown = answers.map((answer) =>
    answer.startsWith(`        "${status}":`) ? answer.replace(/\n+$/, (end) => `\n${example}${end.slice(1)}`) : answer,
  )
  return [before, shown.join(''), ...after].join('')
}

/** The text as YAML, in quotes only where it needs them. */
function quoted(text: string): string {
  if (!/: | #|^["'{}[\]&*!|>%@`-]/.test(text)) return text
  return text.includes("'") || !text.includes('"') ? JSON.stringify(text) : `'${text}'`
}

/** Makes docs/errors.md agree with REASONS in status and order. A new line does not yet say what to do. */
export function writeIntoErrors(page: string): string {
  const rows = page.match(/^\| \d+ \| `.*\n/gm) ?? []
  const rowOf = (reason: string) => rows.find((row) => row.includes(`| \`${reason}\` |`))
  const table = Object.entries(REASONS).map(
    ([reason, { status, detail }]) =>
      rowOf(reason)?.replace(/\d+/, String(status)) ?? `| ${status} | \`${reason}\` | ${detail.slice(0, -1)} | ? |\n`,
  )
  const [first = ''] = rows
  // The second table has what only the gateway gives.
  const ofService = rows.filter((row) => row.split(' | ').length === 4)
  const rest = ofService.reduce((text, row) => (row === first ? text : text.replace(row, '')), page)
  return rest.replace(first, table.join(''))
}
