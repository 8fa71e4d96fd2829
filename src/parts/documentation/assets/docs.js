// Finds operations while one types, and leads old links to the page of their operation. Without scripts, a button sends the search.
import { onElement } from './elements.js'

const pause = 120 // milliseconds

onElement('.reference-search', (form, signal) => {
  const field = form.querySelector('input')
  const frame = document.getElementById('found')
  let timer
  field.addEventListener(
    'input',
    () => {
      clearTimeout(timer)
      timer = setTimeout(() => (field.value.trim() ? form.requestSubmit() : frame.replaceChildren()), pause)
    },
    { signal },
  )
  signal.addEventListener('abort', () => clearTimeout(timer))
})

// The reference was one page: `/docs#repos/get`.
onElement('.reference', () => {
  const operation = /^#([\w-]+\/[\w-]+)$/.exec(location.hash)?.[1]
  if (location.pathname === '/docs' && operation) location.replace(`/docs/operations/${operation}`)
})

// A form that is answered by another page, such as the one that asks for the password, leaves its frame.
document.addEventListener('turbo:frame-missing', (event) => {
  event.preventDefault()
  event.detail.visit(event.detail.response)
})
