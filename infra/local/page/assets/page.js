// Shows the API reference, and every failure of this page in words: a blank page helps nobody.

document.querySelector('#no-script').remove()
const trouble = document.querySelector('#trouble')

function showTrouble(what) {
  trouble.hidden = false
  const line = document.createElement('p')
  line.textContent = `This page does not work as it should: ${what} The same description is in openapi.yaml.`
  trouble.append(line)
}

// In the capture phase, because a failed load fires its event only at its own element.
window.addEventListener(
  'error',
  (event) => {
    const source = event.target?.src ?? event.target?.href
    showTrouble(source ? `${new URL(source).pathname} could not be loaded.` : `${event.message}.`)
  },
  true,
)
window.addEventListener('unhandledrejection', (event) => showTrouble(`${event.reason?.message ?? event.reason}.`))

const dark = window.matchMedia('(prefers-color-scheme: dark)')
const themeButton = document.querySelector('#theme')

function showTheme(isDark) {
  document.documentElement.classList.toggle('dark-mode', isDark)
  themeButton.textContent = isDark ? 'Light' : 'Dark'
}

showTheme(dark.matches)
dark.addEventListener('change', () => showTheme(dark.matches))
themeButton.addEventListener('click', () => showTheme(!document.documentElement.classList.contains('dark-mode')))

/** Scripts are deferred: by now the renderer is there, or its failure has been reported. */
document.addEventListener('DOMContentLoaded', async () => {
  if (typeof SwaggerUIBundle !== 'function') return
  const answer = await fetch('openapi.json')
  if (!answer.ok) throw new Error(`openapi.json was answered with ${answer.status}`)
  const reference = SwaggerUIBundle({
    spec: await answer.json(),
    dom_id: '#reference',
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    requestSnippetsEnabled: true,
    validatorUrl: null,
    responseInterceptor: (response) => {
      document.dispatchEvent(new CustomEvent('answered', { detail: response }))
      return response
    },
    onComplete: () => {
      window.apiReference = reference
      document.dispatchEvent(new Event('referenceshown'))
    },
  })
})
