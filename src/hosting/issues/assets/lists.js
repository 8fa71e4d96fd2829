// Lists of issues and pull requests: keys, and boxes to check.
import { onKey } from './controls.js'
import { onElement } from './elements.js'

onElement('.issue-lists', (main, signal) => {
  const links = [...main.querySelectorAll('.issue-title')]
  const step = (by) => () => {
    const at = links.indexOf(document.activeElement)
    links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus()
  }
  onKey(signal, {
    j: step(1),
    k: step(-1),
    c: () => main.querySelector('.list-bar a.primary')?.click(),
    x: () => document.activeElement.closest('.issue-row')?.querySelector('input[type="checkbox"]')?.click(),
  })
})

onElement('form.bulk', (form, signal) => {
  const boxes = [...document.querySelectorAll('input[form="bulk"]')]
  const all = form.querySelector('.bulk-all')
  const count = form.querySelector('.bulk-count')
  const menu = form.querySelector('details')
  const [box] = all.getElementsByTagName('input')
  const show = () => {
    const chosen = boxes.filter((one) => one.checked).length
    count.textContent = `${chosen} selected`
    menu.hidden = chosen === 0
    form.closest('.box-header').classList.toggle('selecting', chosen > 0)
    box.checked = chosen === boxes.length
    box.indeterminate = chosen > 0 && chosen < boxes.length
  }
  box.addEventListener(
    'change',
    () => {
      for (const one of boxes) one.checked = box.checked
      show()
    },
    { signal },
  )
  for (const one of boxes) one.addEventListener('change', show, { signal })
  show()
})
