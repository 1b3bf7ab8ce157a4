// The demonstration of npm start: its containers and files, and what becomes of a promoted one. Elsewhere there is
// no demo.json, and the page is the reference alone.

const KEYS = {
  standard_key: 'standard key, may promote',
  management_key: 'management key',
  powerless_key: 'key without permission',
}

const at = (id) => document.querySelector(`#${id}`)

async function readDemo() {
  const isLocal = /^(127\.0\.0\.1|localhost)$/.test(location.hostname)
  const answer = isLocal ? await fetch('demo.json') : undefined
  return answer?.ok ? answer.json() : undefined
}

function element(name, text, attributes = {}) {
  const made = Object.assign(document.createElement(name), attributes)
  if (text !== undefined) made.textContent = text
  return made
}

function bytes(count) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(count, 1)) / 10))
  return `${Number((count / 1024 ** power).toPrecision(3))} ${units[power]}`
}

function showDemo(demo) {
  const containers = [demo, demo.full_workspace]
  at('demo').hidden = false
  at('container').append(
    ...containers.map((each, index) =>
      element('option', `${each.container_id} (${each.workspace_id})`, { value: index }),
    ),
  )
  const chosen = () => containers[at('container').value]
  const key = () => chosen()[at('key').value]

  const showContainer = () => {
    const names = Object.keys(KEYS).filter((name) => chosen()[name] !== undefined)
    at('key').replaceChildren(...names.map((name) => element('option', KEYS[name], { value: name })))
    at('files').replaceChildren(...chosen().files.map(fileRow))
    useKey()
  }
  const useKey = () => window.apiReference?.preauthorizeApiKey('bearer', key())
  const fileRow = (file) => {
    const button = element('button', 'Promote', { type: 'button', ariaLabel: `Promote ${file.path}` })
    button.addEventListener('click', () => promote(file, button))
    const row = element('tr')
    const action = element('td')
    action.append(button)
    row.append(
      element('th', file.path, { scope: 'row', title: file.file_id }),
      element('td', bytes(file.size_bytes)),
      action,
    )
    return row
  }
  const promote = async (file, button) => {
    button.disabled = true
    try {
      const path = `/containers/${chosen().container_id}/files/${file.file_id}/promote`
      const answer = await fetch(demo.base_url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key()}` },
      })
      showOutcome(answer.status, await answer.json(), answer.headers)
    } finally {
      button.disabled = false
      button.focus()
    }
  }
  const downloadLine = ({ id, filename }) => {
    const line = element('p')
    const button = element('button', `Download ${filename}`, { type: 'button' })
    const told = element('span', '', { role: 'status' })
    const workspaceKey = key()
    button.addEventListener('click', async () => {
      button.disabled = true
      told.textContent = await download(`${demo.base_url}/files/${id}/content`, workspaceKey)
      button.disabled = false
      button.focus()
    })
    line.append(button, ' ', told)
    return line
  }
  const showOutcome = (status, body, headers) => {
    const isPromoted = status === 200
    const title = isPromoted ? `${body.filename} is a document now` : `${status}: ${body.error.metadata.detail}`
    const parts = [element('h3', title), element('pre', JSON.stringify(body, null, 2), { tabIndex: 0 })]
    const [quota, used] = ['storage-quota-bytes', 'storage-used-bytes'].map((name) => Number(headers.get(name)))
    if (quota > 0) {
      const text = `${bytes(used)} of ${bytes(quota)} of the workspace are used.`
      parts.push(element('p', text), element('meter', text, { max: quota, value: used, ariaLabel: 'Used storage' }))
    }
    if (isPromoted) parts.push(downloadLine(body))
    at('outcome').replaceChildren(...parts)
    at('outcome').className = isPromoted ? 'done' : 'refused'
  }

  at('container').addEventListener('change', showContainer)
  at('key').addEventListener('change', useKey)
  document.addEventListener('referenceshown', useKey)
  // What is sent from the reference below shows up here as well.
  document.addEventListener('answered', ({ detail }) => {
    const isPromotion = /\/promote$/.test(new URL(detail.url, location.href).pathname) && detail.obj !== undefined
    if (isPromotion) showOutcome(detail.status, detail.obj, new Headers(detail.headers))
  })
  showContainer()
}

/** Lets the browser itself download: only the first request has the key, and S3 names the file. @returns what to say */
async function download(url, key) {
  try {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    if (!answer.ok) {
      const body = await answer.json().catch(() => undefined)
      return `${answer.status}: ${body?.error?.metadata?.detail ?? 'the content is not there.'}`
    }
    await answer.body.cancel()
    location.assign(answer.url)
    return ''
  } catch (error) {
    return `The content could not be fetched (${error.message}). The API sends on to S3, and that must let this page in (CORS).`
  }
}

const demo = await readDemo()
if (demo !== undefined) showDemo(demo)
