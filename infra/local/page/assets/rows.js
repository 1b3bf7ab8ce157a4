/** Shows characters that cannot be seen but change what can, as the command line does. */
export const visible = (text) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0).toString(16)}}`)

export const bytes = (count) => {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(count, 1)) / 10))
  return `${Number((count / 1024 ** power).toPrecision(3))} ${['bytes', 'KiB', 'MiB', 'GiB'][power]}`
}

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
export const at = (time) => moment.format(new Date(time))

/** The line below a document's name. */
export function aboutDocument({ size_bytes, mime_type, container_id, created_at, expires_at }) {
  const from = container_id ? `, from ${container_id}` : ''
  const until = expires_at ? `, until ${at(expires_at)}` : ''
  return `${bytes(size_bytes)}${until}, ${mime_type.split(';')[0]}${from}, ${at(created_at)}`
}

export function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

export function rowOf(path, about, ...buttons) {
  const split = path.lastIndexOf('/') + 1
  const folder = element('small', {}, visible(path.slice(0, split)))
  const name = element('p', { title: visible(path) }, folder, visible(path.slice(split)))
  const row = element('li', {}, name, element('small', {}, about), element('p', { className: 'do' }, ...buttons))
  row.dataset.name = path
  return row
}
