// Both pages say every failure in words, because a blank page helps nobody.
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
