// Sends a form with files and shows how far it is. Without scripts, the browser sends it.
import { onElement } from './elements.js'

onElement('form[data-upload]', (form, signal) => {
  form.addEventListener(
    'submit',
    (event) => {
      const { submitter } = event
      const files = [...form.querySelectorAll('input[type="file"]')].flatMap((input) => [...input.files])
      if (!files.length || submitter?.hasAttribute('formenctype')) return
      event.preventDefault()
      event.stopImmediatePropagation()
      send(form, submitter, signal)
    },
    { signal, capture: true },
  )
})

function send(form, submitter, signal) {
  const shown = form.querySelector('.upload-progress')
  const [bar, text] = [shown.querySelector('progress'), shown.querySelector('span')]
  const buttons = [...form.querySelectorAll('button')].filter((button) => !button.disabled)
  const finish = (message) => {
    for (const button of buttons) button.disabled = false
    text.textContent = message
  }
  // A button of the form is called `action`, and hides the property.
  const address = new URL(form.getAttribute('action'), location.href).href
  const body = new FormData(form, submitter)
  for (const button of buttons) button.disabled = true
  shown.hidden = false
  const request = new XMLHttpRequest()
  signal.addEventListener('abort', () => request.abort())
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    const percent = total ? Math.floor((100 * loaded) / total) : 0
    bar.value = percent
    text.textContent = percent < 100 ? `${percent} %` : 'Saving…'
  })
  request.addEventListener('error', () => finish('The connection was lost. Your text is still here; send the form again.'))
  request.addEventListener('load', () => {
    finish('')
    shown.hidden = true
    // The answer is shown, not loaded again: a message in it is shown once.
    const redirected = request.responseURL !== address
    Turbo.visit(redirected ? request.responseURL : location.href, {
      action: redirected ? 'advance' : 'replace',
      response: { statusCode: 200, responseHTML: request.responseText, redirected },
    })
  })
  request.open('POST', address)
  request.setRequestHeader('X-Belfry-Shown', '1')
  request.send(body)
}
