// Remembers in this browser which files a person has viewed, in the version that was shown.
import { onElement } from './elements.js'

const keyOf = (file) => `viewed ${file.dataset.viewedKey} ${file.getAttribute('aria-label')}`

onElement('.diff-file[data-viewed-key]', (file, signal) => {
  const label = file.querySelector('.viewed')
  const box = label.querySelector('input')
  const lines = file.querySelector('details')
  label.hidden = false
  box.checked = localStorage.getItem(keyOf(file)) !== null
  if (box.checked && !location.hash.startsWith(`#${file.id}`)) lines.open = false
  box.addEventListener(
    'change',
    () => {
      if (box.checked) localStorage.setItem(keyOf(file), '1')
      else localStorage.removeItem(keyOf(file))
      lines.open = !box.checked
    },
    { signal },
  )
})

// A link to a comment opens its thread, if that is resolved.
onElement('.thread-fold', (fold, signal) => {
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1))
    if (!target || fold.open || !fold.contains(target)) return
    fold.open = true
    target.scrollIntoView()
  }
  reveal()
  addEventListener('hashchange', reveal, { signal })
})

// A link to a line opens its file.
onElement('.diff', (_, signal) => {
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1))
    const lines = target && (target.closest('.diff-file > details') ?? target.querySelector(':scope > details'))
    if (!lines || lines.open) return
    lines.open = true
    target.scrollIntoView()
  }
  reveal()
  addEventListener('hashchange', reveal, { signal })
})
