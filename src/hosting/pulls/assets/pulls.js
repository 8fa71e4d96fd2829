// Keys of the commits, checks and files of a pull request.
import { onKey } from './controls.js'
import { onElement } from './elements.js'

onElement('.pull-page', (main, signal) => {
  const step = (by) => () => {
    const rows = [...main.querySelectorAll('.commit-row, .check-row, .diff-file')]
    const at = rows.findIndex((row) => row.contains(document.activeElement))
    const row = rows[Math.min(Math.max(at + by, 0), rows.length - 1)]
    if (!row) return
    const target = row.querySelector(':scope .commit-title, :scope > details > summary') ?? row
    target.focus({ preventScroll: true })
    row.scrollIntoView({ block: row.matches('.diff-file') ? 'start' : 'nearest' })
  }
  onKey(signal, {
    j: step(1),
    k: step(-1),
    v: () => document.activeElement.closest('.diff-file')?.querySelector('.viewed input')?.click(),
    r: () => main.querySelector('#review textarea')?.focus(),
  })
})
