const read = async (name) => {
  const answer = await fetch(name)
  if (!answer.ok) throw new Error(`${name} was answered with ${answer.status}`)
  return answer.json()
}

const spec = await read('openapi.json')
// Parameters that some libraries send and that change nothing are no use to somebody who tries an operation.
for (const operation of Object.values(spec.paths).flatMap((methods) => Object.values(methods)))
  operation.parameters = operation.parameters?.filter(({ $ref = '' }) => !$ref.includes('/Accepted'))
const demo = await read('demo.json')
const reference = window.SwaggerUIBundle?.({
  ...{ spec, dom_id: '#reference', deepLinking: true, tryItOutEnabled: true, displayRequestDuration: true },
  ...{ docExpansion: 'list', defaultModelsExpandDepth: 0, requestSnippetsEnabled: true, validatorUrl: null },
  onComplete: () => reference.preauthorizeApiKey('bearer', demo.standard_key),
})

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)')
const showTheme = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches)
prefersDark.addEventListener('change', showTheme)
showTheme()
