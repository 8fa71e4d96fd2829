// Turbo follows links and sends forms without loading the whole document again.
import './turbo.js'

// The server marks a notification as read when its page is shown, not when a script reads the page.
document.addEventListener('turbo:before-fetch-request', (event) => {
  event.detail.fetchOptions.headers['X-Belfry-Shown'] = '1'
})

// Files, feeds and other answers that are not pages are left to the browser.
document.addEventListener('turbo:before-fetch-response', (event) => {
  const { response } = event.detail.fetchResponse
  if (response.headers.get('content-type')?.startsWith('text/html')) return
  event.preventDefault()
  location.href = response.url
})
