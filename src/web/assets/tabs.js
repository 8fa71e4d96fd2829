// Shows the panel that was chosen last, in all groups of panels that remember the same choice.
import { onElement } from './elements.js'

const keyOf = (group) => `panel ${group.dataset.remember}`

const choose = (group, value) => {
  const input = value && group.querySelector(`input[value="${CSS.escape(value)}"]`)
  if (input) input.checked = true
}

// A browser may refuse to keep anything.
const recall = (key) => {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

onElement('.panels[data-remember]', (group, signal) => {
  choose(group, recall(keyOf(group)))
  group.addEventListener(
    'change',
    ({ target }) => {
      // The chosen group stays where it is while those above it change their heights.
      const { top } = group.getBoundingClientRect()
      for (const other of document.querySelectorAll(`.panels[data-remember="${CSS.escape(group.dataset.remember)}"]`))
        choose(other, target.value)
      window.scrollBy(0, group.getBoundingClientRect().top - top)
      try {
        localStorage.setItem(keyOf(group), target.value)
      } catch {}
    },
    { signal },
  )
})
