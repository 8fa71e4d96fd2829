// Filters the list of operations. Without scripts, the page shows all of them.
const field = document.querySelector('#filter')
const items = [...document.querySelectorAll('nav li')]
field.hidden = false
field.addEventListener('input', () => {
  const words = field.value.toLowerCase().split(/\s+/)
  for (const item of items) item.hidden = !words.every((word) => item.dataset.text.includes(word))
  for (const section of document.querySelectorAll('nav section')) section.hidden = !section.querySelector('li:not([hidden])')
})
