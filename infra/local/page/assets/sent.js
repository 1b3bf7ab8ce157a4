// The last action, as one would write it in a program, beside what was answered.
export const at = (id) => document.getElementById(id)
export const refusal = (status, detail = 'no reason was given.') => new Error(`${status}: ${detail}`, { cause: status })
const literal = (value) => JSON.stringify(value, null, 1)?.replace(/\n */g, ' ')
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`

/** Of a request `{ method, url, headers }`, or `{ method, url, fields, file }` for a form with the file of that name. */
const LANGUAGES = {
  curl({ method, url, headers = {}, fields = {}, file }) {
    const parts = [`curl -i ${method === 'GET' ? '-L' : `-X ${method}`}`]
    for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`)
    for (const [name, value] of Object.entries(fields)) parts.push(`--form-string ${quoted(`${name}=${value}`)}`)
    if (file) parts.push(`-F ${quoted(`file=@${JSON.stringify(file)}`)}`)
    return [...parts, quoted(url)].join(' \\\n  ')
  },
  JavaScript({ method, url, headers, fields, file }) {
    const set = `for (const each of Object.entries(${literal(fields)})) body.set(...each)`
    const form = `const body = new FormData()\n${set}\nbody.set('file', await openAsBlob(${literal(file)}))\n`
    const call = `await fetch(${literal(url)}, {\n  method: '${method}',\n  `
    const sent = file ? 'body' : `headers: ${literal(headers)}`
    const before = file ? `import { openAsBlob } from 'node:fs'\n\n${form}` : ''
    return `${before}const answer = ${call}${sent},\n})\nconsole.log(answer.status, await answer.text())`
  },
  Python({ method, url, headers, fields, file }) {
    const form = `data=${literal(fields)},\n    files={"file": open(${literal(file)}, "rb")}`
    const options = `"${method}",\n    ${literal(url)},\n    ${file ? form : `headers=${literal(headers)}`},\n`
    return `import requests\n\nanswer = requests.request(\n    ${options})\nprint(answer.status_code, answer.text)`
  },
}
const SHOWN = /^(content-type|ratelimit|retry-after|storage-.*|x-request-id)$/
let last
const showRequest = () => last && Object.assign(at('request'), { value: LANGUAGES[at('language').value](last) })

export function showSent(request, { status, headers, body }) {
  last = request
  showRequest()
  const lines = [...headers].filter(([name]) => SHOWN.test(name)).map(([name, value]) => `${name}: ${value}`)
  at('answer').value = [status, ...lines, '', body].join('\n')
}

/** By XMLHttpRequest, because fetch does not tell how far it is. */
export function sendForm({ url, fields }, file, progress) {
  const form = new FormData()
  for (const each of Object.entries({ ...fields, file })) form.set(...each)
  const asked = new XMLHttpRequest()
  asked.upload.onprogress = ({ loaded, total }) => Object.assign(progress, { value: loaded / total })
  asked.open('POST', url)
  asked.send(form)
  return new Promise((done, fail) => {
    asked.onerror = () => fail(new Error('Not all of it was sent: the connection broke, or it is a folder.'))
    asked.onload = () => {
      const { status, responseText: body } = asked
      showSent({ method: 'POST', url, fields, file: file.name }, { status, headers: [], body })
      const message = new DOMParser().parseFromString(body, 'text/xml').querySelector('Message')
      return status < 300 ? done() : fail(refusal(status, message?.textContent))
    }
  })
}

at('language').append(...Object.keys(LANGUAGES).map((name) => new Option(name)))
at('language').addEventListener('change', showRequest)
// Only a page on this machine, or behind TLS, has a clipboard.
at('copy').addEventListener('click', async () => {
  at('request').select()
  await navigator.clipboard?.writeText(at('request').value)
  at('told').textContent = navigator.clipboard ? 'Copied.' : 'Selected: copy it with the keyboard.'
})
at('sent').open = matchMedia('(min-width: 900px)').matches
