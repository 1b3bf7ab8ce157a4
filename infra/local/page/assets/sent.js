// The last action, as one would write it with curl, beside what was answered.
export const at = (id) => document.getElementById(id)
export const refusal = (status, detail = 'no reason was given.') => new Error(`${status}: ${detail}`, { cause: status })
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`
const SHOWN = /^(content-type|ratelimit|retry-after|storage-.*|x-request-id)$/

export function showSent({ method, url, headers: sent, body: data }, { status, headers, body }) {
  const fields = Object.entries(sent).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  if (data) fields.push(`-d ${quoted(data)}`)
  // Nothing was sent before: from now on, it stays as one leaves it.
  if (!at('sent').dataset.isUsed) at('sent').open = true
  at('sent').dataset.isUsed = 'true'
  at('request').value = [`curl -i ${method === 'GET' ? '-L' : `-X ${method}`}`, ...fields, quoted(url)].join(' \\\n  ')
  const lines = [...headers].filter(([name]) => SHOWN.test(name)).map(([name, value]) => `${name}: ${value}`)
  at('answer').value = [status, ...lines, '', body].join('\n')
}

/** By XMLHttpRequest, because fetch does not tell how far it is. */
export function putFile(url, file, progress) {
  const asked = new XMLHttpRequest()
  asked.upload.onprogress = ({ loaded, total }) => Object.assign(progress, { value: loaded / total })
  asked.responseType = 'json'
  asked.open('PUT', url)
  asked.send(file)
  return new Promise((done, fail) => {
    asked.onerror = () => fail(new Error('Not all of it was sent: the connection broke, or it is a folder.'))
    asked.onload = () => {
      const { status, response } = asked
      return status < 300 ? done() : fail(refusal(status, response?.detail ?? response?.error?.metadata?.detail))
    }
  })
}

/** Only a page on this machine, or behind TLS, has a clipboard, and a browser may keep it to itself. */
export const isCopied = async (text) =>
  navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  )

at('copy').addEventListener('click', async () => {
  at('request').select()
  at('told').textContent = (await isCopied(at('request').value)) ? 'Copied.' : 'Selected: copy it with the keyboard.'
})
