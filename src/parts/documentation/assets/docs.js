// Filters the list of operations. Without scripts, the page shows all of them.
import { onElement } from './elements.js'

onElement('.reference #filter', (field, signal) => {
  const nav = field.closest('nav')
  field.hidden = false
  field.addEventListener(
    'input',
    () => {
      const words = field.value.toLowerCase().split(/\s+/)
      for (const item of nav.querySelectorAll('li')) item.hidden = !words.every((word) => item.dataset.text.includes(word))
      for (const section of nav.querySelectorAll('section')) section.hidden = !section.querySelector('li:not([hidden])')
    },
    { signal },
  )
})
