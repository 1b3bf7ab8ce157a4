// What both pages share: light or dark, and every failure of a page in words, because a blank page helps nobody.
document.querySelector('#no-script').remove()

function showTrouble(what) {
  const text = `This page does not work as it should: ${what}. The API is described in openapi.yaml, too.`
  document.querySelector('#trouble').append(Object.assign(document.createElement('p'), { textContent: text }))
}

// In the capture phase, because a failed load fires its event only at its own element.
const sourceOf = ({ src, href } = {}) => src ?? href
const onError = ({ target, message }) =>
  showTrouble(sourceOf(target) ? `${new URL(sourceOf(target)).pathname} could not be loaded` : message)
window.addEventListener('error', onError, true)
window.addEventListener('unhandledrejection', ({ reason }) => showTrouble(reason?.message ?? reason))

const button = document.querySelector('#theme')
const showTheme = (isDark) => {
  document.documentElement.classList.toggle('dark-mode', isDark)
  document.documentElement.style.colorScheme = isDark ? 'dark' : 'light'
  button.textContent = isDark ? 'Light' : 'Dark'
}

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)')
prefersDark.addEventListener('change', () => showTheme(prefersDark.matches))
button.addEventListener('click', () => {
  sessionStorage.theme = button.textContent
  showTheme(button.textContent === 'Dark')
})
showTheme(sessionStorage.theme ? sessionStorage.theme === 'Dark' : prefersDark.matches)
