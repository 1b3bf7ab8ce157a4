// The life of a file: from the sandbox on the left into the documents on the right. The page shows what the API lists,
// read with the management key of the demonstration; actions are sent with the chosen key.
import { aboutDocument, bytes, element, rowOf, at as timeOf, visible } from './rows.js'
import { at, isCopied, putFile, refusal, showSent } from './sent.js'

const LOOK_EVERY_MS = 3000
/** A slow network is no reason to give up: an answer may take so long. */
const LOOK_WITHIN_MS = 60_000
const NEARLY_FULL = 0.9
const GONE = 'The service does not answer: start it with npm start, and this page goes on.'
let demo
/** The container that is shown, with the keys of its workspace. */
const chosen = () => {
  const [workspace_id, container_id] = at('container').value.split('/')
  return { ...[demo, demo.full_workspace].find((each) => each.workspace_id === workspace_id), container_id }
}
const say = (text) => Object.assign(at('told'), { textContent: text })
/** Asks the API with a key of the chosen container. @throws what is refused, in the API's words */
async function ask({ method = 'GET', path, key, headers, body: sent, signal, show = () => {} }) {
  const all = { Authorization: `Bearer ${chosen()[key]}`, ...headers }
  const request = { method, url: demo.base_url + path, headers: all, ...(sent && { body: JSON.stringify(sent) }) }
  const answer = await fetch(request.url, { ...request, signal })
  if (answer.redirected) await answer.body.cancel()
  const body = answer.redirected ? 'The API redirects to S3, which sends the content.' : await answer.json()
  show(request, { status: answer.status, headers: answer.headers, body: JSON.stringify(body, null, 2) })
  if (!answer.ok) throw refusal(answer.status, body.error?.metadata?.detail)
  return { body, headers: answer.headers, url: answer.url }
}
const act = (method, path, body) => ask({ method, path, body, key: at('key').value, show: showSent })

/** Shows what there is now. What is wrong is said once, and the next look may find it mended. */
async function look() {
  const lists = await readLists().catch((error) => ({ wrong: error.cause ? error.message : GONE }))
  const { wrong = '', container, files, documents } = lists
  if (at('gone').textContent !== wrong) at('gone').textContent = wrong
  if (wrong || container !== at('container').value) return
  const isForATime = documents.body.data.some(({ expires_at }) => expires_at)
  at('stay').textContent = `stay in ${chosen().workspace_id}${isForATime ? ', some for a time' : ''}`
  showRows(at('file-rows'), files.body, fileRow)
  showRows(at('document-rows'), documents.body, documentRow)
  filter()
  showUsage(...['storage-quota-bytes', 'storage-used-bytes'].map((name) => Number(documents.headers.get(name))))
}

async function readLists() {
  const signal = AbortSignal.timeout(LOOK_WITHIN_MS)
  demo = await (await fetch('demo.json', { signal })).json()
  showContainers()
  for (const option of at('key').options) option.disabled = chosen()[option.value] === undefined
  if (at('key').selectedOptions[0].disabled) at('key').selectedIndex = 0
  const container = at('container').value
  // The header keeps these requests out of the terminal of npm start.
  const looking = { key: 'management_key', signal, headers: { 'Page-Look': '1' } }
  const lists = [`/containers/${chosen().container_id}/files?limit=1000`, '/files?order=desc&limit=100']
  const [files, documents] = await Promise.all(lists.map((path) => ask({ ...looking, path })))
  return { container, files, documents }
}

function showContainers() {
  const known = Array.from(at('container').options, ({ value }) => value)
  for (const { workspace_id, container_id } of demo.containers) {
    const value = `${workspace_id}/${container_id}`
    if (!known.includes(value)) at('container').append(new Option(container_id, value))
  }
}

/** Rows that have not changed stay, with their focus and with what they say. */
function showRows(list, { data, has_more }, rowFor) {
  const container = at('container').value
  const known = new Map(Array.from(list.children, (row) => [row.dataset.of, row]))
  const rows = data.map((item) => {
    const of = container + JSON.stringify(item)
    const row = known.get(of) ?? rowFor(item)
    const isNew = !known.has(of) && list.dataset.of === container
    if (isNew) row.animate([{ background: 'var(--done)' }, {}], { duration: 3000, easing: 'ease-in' })
    row.dataset.of = of
    return row
  })
  list.dataset.of = container
  if (has_more) rows.push(element('li', {}, `These are the first ${rows.length}; the API lists the others.`))
  for (const row of [...list.children]) if (!rows.includes(row)) row.remove()
  for (const [i, row] of rows.entries()) if (list.children[i] !== row) list.insertBefore(row, list.children[i])
}

function filter() {
  for (const kind of ['file', 'document']) {
    const rows = [...at(`${kind}-rows`).querySelectorAll('[data-name]')]
    const wanted = at(`${kind}-filter`).value.toLowerCase()
    for (const row of rows) row.hidden = !row.dataset.name.toLowerCase().includes(wanted)
    const shown = rows.filter((row) => !row.hidden).length
    const all = `${rows.length} ${kind}${rows.length === 1 ? '' : 's'}`
    at(`${kind}-count`).textContent = wanted ? `${shown} of ${all}` : all
  }
}

function showUsage(quota, used) {
  const limit = NEARLY_FULL * quota
  const text = `${bytes(used)} of ${bytes(quota)}${used < limit ? '' : ', nearly full'}`
  // Without a quota, the API could not read it just now.
  if (quota === 0 || at('used').textContent === text) return
  Object.assign(at('used'), { textContent: text, className: used < limit ? '' : 'danger' })
  Object.assign(at('meter'), { max: quota, value: used, low: limit, high: limit })
}

/** A button says what it does, and to which file; a refusal stands in its row until the next action. */
function button(textContent, of, doing, work, className = '') {
  const made = element('button', { type: 'button', textContent, ariaLabel: `${textContent} ${visible(of)}`, className })
  return workOn(made, doing, work)
}

function workOn(made, doing, work) {
  const { textContent } = made
  made.addEventListener('click', async () => {
    if (made.ariaDisabled) return
    forget()
    Object.assign(made, { textContent: doing, ariaDisabled: 'true' })
    await work().catch((error) => refuse(made.closest('li'), error))
    Object.assign(made, { textContent, ariaDisabled: null })
  })
  return made
}

/** @param row null: the refusal is not about one file, and is shown above them all */
async function refuse(row, { cause, message }) {
  if (!cause) await look()
  // That the service is gone is said once, below.
  if (at('gone').textContent && !row?.closest('#uploads')) return
  const said = element('p', { className: 'refused danger' }, message)
  if (row) row.append(said)
  else at('files').prepend(said)
  say(message)
}

function forget() {
  for (const each of document.querySelectorAll('.refused')) (each.closest('#uploads li') ?? each).remove()
}

function fileRow({ id, path, bytes: size, container_id }) {
  const promote = async () => {
    await act('POST', `/containers/${container_id}/files/${id}/promote`)
    await look()
    at('document-rows').parentElement.scrollTop = 0
    say(`${visible(path)} is a document now.`)
  }
  return rowOf(path, bytes(size), button('Promote', path, 'Promoting…', promote, 'framed'))
}

/** Page by page, until another container is chosen: the API says when to ask for the next. What it refuses stands in its row. */
async function promoteAll() {
  const said = {}
  const container = at('container').value
  for (let page = { has_more: true }; page.has_more; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000 * (page.retry_after_seconds ?? 0)))
    if (at('container').value !== container) return
    const { container_id } = chosen()
    page = (await act('POST', `/containers/${container_id}/promote`, { prefix: '', after: page.next })).body
    await look()
    for (const { path, outcome, error } of page.data) {
      said[outcome] = (said[outcome] ?? 0) + 1
      const row = [...at('file-rows').children].find(({ dataset }) => dataset.name === path)
      if (error && row) await refuse(row, refusal(error.code, error.metadata.detail))
    }
  }
  const counted = Object.entries(said).map(([outcome, count]) => `${count} ${outcome}`)
  say(counted.length === 0 ? 'There are no files.' : `${counted.join(', ')}.`)
}

function documentRow(item) {
  const { id, filename } = item
  // Lets the browser itself download: only the first request has the key, and S3 names the file.
  const fetchContent = async () => location.assign((await act('GET', `/files/${id}/content`)).url)
  const putBack = async () => {
    const { container_id } = chosen()
    await act('POST', `/containers/${container_id}/files`, { file_id: id })
    await look()
    say(`${visible(filename)} is in ${container_id}.`)
  }
  const link = async () => {
    const { url, expires_at } = (await act('POST', `/files/${id}/links`)).body
    const until = ` opens it for anybody until ${timeOf(expires_at)}${(await isCopied(url)) ? ' (copied)' : ''}.`
    row.querySelector('.link')?.remove()
    row.append(element('p', { className: 'link' }, element('a', { href: url }, 'This link'), until))
    say(`The link to ${visible(filename)} ends on ${timeOf(expires_at)}.`)
  }
  const destroy = async () => {
    await act('DELETE', `/files/${id}`)
    await look()
    at('documents-title').focus()
    say(`${visible(filename)} is deleted.`)
  }
  const asking = (isAsking, focused) => async () => {
    row.classList.toggle('asking', isAsking)
    row.querySelector(focused).focus()
  }
  const download = button('Download', filename, 'Fetching…', fetchContent)
  const remove = button('Delete', filename, 'Delete', asking(true, '.keep'), 'delete')
  const put = button('Put back', filename, 'Putting…', putBack)
  put.title = 'Put into the container that is shown'
  const share = button('Link', filename, 'Linking…', link)
  const row = rowOf(filename, aboutDocument(item), share, put, download, remove)
  const sure = button('Delete for ever', filename, 'Deleting…', destroy, 'danger')
  const keep = button('Keep', filename, 'Keep', asking(false, '.delete'), 'keep')
  row.append(element('p', { className: 'do sure' }, sure, keep))
  return row
}

async function upload(file) {
  forget()
  const progress = element('progress', { value: 0, ariaLabel: `Upload of ${file.name}` })
  const row = rowOf(file.name, progress)
  at('uploads').append(row)
  const { workspace_id, container_id } = chosen()
  const query = new URLSearchParams({ workspace_id, container_id, path: file.name })
  try {
    await putFile(`/demo/uploads?${query}`, file, progress)
    row.remove()
    await look()
    say(`${file.name} is in the sandbox.`)
  } catch (error) {
    await refuse(row, error)
  }
}

at('container').addEventListener('change', () => {
  forget()
  for (const list of [at('file-rows'), at('document-rows')]) {
    list.replaceChildren()
    delete list.dataset.of
  }
  return look()
})
workOn(at('promote-all'), 'Promoting…', promoteAll)
for (const kind of ['file', 'document']) at(`${kind}-filter`).addEventListener('input', filter)
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
