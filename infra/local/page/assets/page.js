// What both pages share: light or dark, and every failure of a page in words, because a blank page helps nobody.
document.querySelector('#no-script').remove()

function showTrouble(what) {
  const text = `This page does not work as it should: ${what}. The API is described in openapi.yaml, too.`
  const line = Object.assign(document.createElement('p'), { className: 'trouble', textContent: text })
  document.querySelector('#trouble').append(line)
}

// In the capture phase, because a failed load fires its event only at its own element.
const sourceOf = ({ src, href } = {}) => src ?? href
const onError = ({ target, message }) =>
  showTrouble(sourceOf(target) ? `${new URL(sourceOf(target)).pathname} could not be loaded` : message)
window.addEventListener('error', onError, true)
window.addEventListener('unhandledrejection', ({ reason }) => showTrouble(reason?.message ?? reason))

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)')
const button = document.querySelector('#theme')

function showTheme(theme) {
  const isDark = theme ? theme === 'Dark' : prefersDark.matches
  document.documentElement.classList.toggle('dark-mode', isDark)
  document.documentElement.style.colorScheme = isDark ? 'dark' : 'light'
  button.textContent = isDark ? 'Light' : 'Dark'
}

showTheme(sessionStorage.theme)
prefersDark.addEventListener('change', () => showTheme())
button.addEventListener('click', () => {
  sessionStorage.theme = button.textContent
  showTheme(sessionStorage.theme)
})
