// The life of a file: from the sandbox on the left into the documents on the right. The page shows what the API lists,
// read with the management key of the demonstration; actions are sent with the chosen key.
import { at, showSent } from './sent.js'

const LOOK_EVERY_MS = 3000
const NEARLY_FULL = 0.9
const GONE = 'The service does not answer: start it with npm start, and this page goes on.'
let demo
const chosen = () => [demo, demo.full_workspace][at('container').selectedIndex]
const say = (text) => Object.assign(at('told'), { textContent: text })
const refusal = (status, detail = 'no reason was given.') => new Error(`${status}: ${detail}`, { cause: status })
const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}
const bytes = (count) => {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(count, 1)) / 10))
  return `${Number((count / 1024 ** power).toPrecision(3))} ${['bytes', 'KiB', 'MiB', 'GiB'][power]}`
}

/** Asks the API with a key of the chosen container. @throws what is refused, in the API's words */
async function ask({ method = 'GET', path, key, headers, signal, show = () => {} }) {
  const request = {
    method,
    url: demo.base_url + path,
    headers: { Authorization: `Bearer ${chosen()[key]}`, ...headers },
  }
  const answer = await fetch(request.url, { ...request, signal })
  if (answer.redirected) await answer.body.cancel()
  const body = answer.redirected ? 'The API redirects to S3, which sends the content.' : await answer.json()
  show(request, { status: answer.status, headers: answer.headers, body: JSON.stringify(body, null, 2) })
  if (!answer.ok) throw refusal(answer.status, body.error?.metadata?.detail)
  return { body, headers: answer.headers, url: answer.url }
}
const act = (method, path) => ask({ method, path, key: at('key').value, show: showSent })

/** Shows what there is now. What is wrong is said once, and the next look may find it mended. */
async function look() {
  const lists = await readLists().catch((error) => ({ wrong: error.cause ? error.message : GONE }))
  const { wrong = '', container_id, files, documents } = lists
  if (at('gone').textContent !== wrong) at('gone').textContent = wrong
  if (wrong || container_id !== chosen().container_id) return
  at('stay').textContent = `stay in ${chosen().workspace_id}`
  showRows(at('file-rows'), files.body, fileRow)
  showRows(at('document-rows'), documents.body, documentRow)
  showUsage(...['storage-quota-bytes', 'storage-used-bytes'].map((name) => Number(documents.headers.get(name))))
}

async function readLists() {
  const signal = AbortSignal.timeout(LOOK_EVERY_MS)
  demo = await (await fetch('demo.json', { signal })).json()
  for (const option of at('key').options) option.disabled = chosen()[option.value] === undefined
  if (at('key').selectedOptions[0].disabled) at('key').selectedIndex = 0
  const { container_id } = chosen()
  // The header keeps these requests out of the terminal of npm start.
  const looking = { key: 'management_key', signal, headers: { 'Page-Look': '1' } }
  const lists = [`/containers/${container_id}/files?limit=1000`, '/files?order=desc&limit=100']
  const [files, documents] = await Promise.all(lists.map((path) => ask({ ...looking, path })))
  return { container_id, files, documents }
}

/** Rows that have not changed stay, with their focus and with what they say. */
function showRows(list, { data, has_more }, rowFor) {
  const { container_id } = chosen()
  const known = new Map(Array.from(list.children, (row) => [row.dataset.of, row]))
  const rows = data.map((item) => {
    const of = container_id + JSON.stringify(item)
    const row = known.get(of) ?? rowFor(item)
    const isNew = !known.has(of) && list.dataset.of === container_id
    if (isNew) row.animate([{ background: 'var(--done)' }, {}], { duration: 3000, easing: 'ease-in' })
    row.dataset.of = of
    return row
  })
  list.dataset.of = container_id
  if (has_more) rows.push(element('li', {}, `These are the first ${rows.length}; the API lists the others.`))
  for (const row of [...list.children]) if (!rows.includes(row)) row.remove()
  for (const [i, row] of rows.entries()) if (list.children[i] !== row) list.insertBefore(row, list.children[i])
}

function showUsage(quota, used) {
  const limit = NEARLY_FULL * quota
  const text = `${bytes(used)} of ${bytes(quota)}${used < limit ? '' : ', nearly full'}`
  // Without a quota, the API could not read it just now.
  if (quota === 0 || at('used').textContent === text) return
  Object.assign(at('used'), { textContent: text, className: used < limit ? '' : 'danger' })
  Object.assign(at('meter'), { max: quota, value: used, low: limit, high: limit })
}

function rowOf(path, about, ...buttons) {
  const split = path.lastIndexOf('/') + 1
  const name = element('p', {}, element('small', {}, path.slice(0, split)), path.slice(split))
  return element('li', {}, name, element('small', {}, about), element('p', { className: 'do' }, ...buttons))
}

/** What a button is for, and for which file; what is refused stands in its row until the next action. */
function button(textContent, of, doing, work, className = '') {
  const made = element('button', { type: 'button', textContent, ariaLabel: `${textContent} ${of}`, className })
  made.addEventListener('click', async () => {
    if (made.ariaDisabled) return
    forget()
    Object.assign(made, { textContent: doing, ariaDisabled: 'true' })
    await work().catch((error) => refuse(made.closest('li'), error))
    Object.assign(made, { textContent, ariaDisabled: null })
  })
  return made
}

async function refuse(row, { cause, message }) {
  if (!cause) await look()
  // That the service is gone is said once, below.
  if (at('gone').textContent && !row.closest('#uploads')) return
  row.append(element('p', { className: 'refused danger' }, message))
  say(message)
}

function forget() {
  for (const each of document.querySelectorAll('.refused')) (each.closest('#uploads li') ?? each).remove()
}

function fileRow({ id, path, bytes: size, container_id }) {
  const promote = async () => {
    const { body } = await act('POST', `/containers/${container_id}/files/${id}/promote`)
    sessionStorage[body.id] = container_id
    await look()
    at('document-rows').parentElement.scrollTop = 0
    say(`${path} is a document now.`)
  }
  return rowOf(path, bytes(size), button('Promote', path, 'Promoting…', promote, 'promote'))
}

function documentRow({ id, filename, size_bytes, mime_type }) {
  // The API does not tell the container: the page knows it of what it promoted itself.
  const from = sessionStorage[id] ? `, from ${sessionStorage[id]}` : ''
  // Lets the browser itself download: only the first request has the key, and S3 names the file.
  const fetchContent = async () => location.assign((await act('GET', `/files/${id}/content`)).url)
  const destroy = async () => {
    await act('DELETE', `/files/${id}`)
    await look()
    at('documents-title').focus()
    say(`${filename} is deleted.`)
  }
  const offer = async (...buttons) => {
    row.lastChild.replaceChildren(...buttons)
    buttons[1].focus()
  }
  const download = button('Download', filename, 'Fetching…', fetchContent)
  const remove = button('Delete for ever', filename, 'Deleting…', destroy, 'danger')
  const keep = button('Keep', filename, 'Keep', () => offer(download, question))
  const question = button('Delete', filename, 'Delete', () => offer(keep, remove))
  const row = rowOf(filename, `${bytes(size_bytes)}, ${mime_type.split(';')[0]}${from}`, download, question)
  return row
}

async function upload(file) {
  forget()
  const progress = element('progress', { value: 0, ariaLabel: `Upload of ${file.name}` })
  const row = rowOf(file.name, progress)
  at('uploads').append(row)
  const { container_id } = chosen()
  const asked = { container_id, path: file.name, content_type: file.type, size_bytes: file.size }
  const headers = { 'Content-Type': 'application/json' }
  try {
    const answer = await fetch('/demo/uploads', { method: 'POST', headers, body: JSON.stringify(asked) })
    const body = await answer.json()
    if (!answer.ok) throw refusal(answer.status, body.detail ?? body.error?.metadata?.detail)
    await sendForm(body, file, progress)
    row.remove()
    await look()
    say(`${file.name} is in the sandbox.`)
  } catch (error) {
    await refuse(row, error)
  }
}

/** By XMLHttpRequest, because fetch does not tell how far it is. */
function sendForm({ url, fields }, file, progress) {
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

at('container').addEventListener('change', () => look(forget()))
at('choose').addEventListener('click', () => at('chosen').click())
at('chosen').addEventListener('change', () => Array.from(at('chosen').files, upload))
for (const name of ['dragover', 'dragleave', 'drop']) {
  // A file may be dropped anywhere: where nobody takes it, a browser opens it.
  document.addEventListener(name, (event) => {
    event.preventDefault()
    document.body.classList.toggle('dragging', name === 'dragover')
    if (name === 'drop') Array.from(event.dataTransfer.files, upload)
  })
}
document.addEventListener('visibilitychange', () => document.hidden || look())
for (;;) {
  if (!document.hidden) await look()
  await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
}
