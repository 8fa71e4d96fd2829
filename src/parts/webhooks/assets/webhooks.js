// Shows new deliveries without reloading.
import { onElement } from './elements.js'
import { follow } from './live.js'

const parts = ['state', 'history', 'deliveries']
const rowsNow = () => [...document.querySelectorAll('.deliveries > li')]

function show(page) {
  const known = new Set(rowsNow().map(({ dataset }) => dataset.id))
  const back = remember()
  for (const id of parts) document.getElementById(id).replaceChildren(...page.getElementById(id).childNodes)
  for (const row of rowsNow()) row.classList.toggle('fresh', !known.has(row.dataset.id))
  back()
}

// Keeps the focus.
function remember() {
  const { id } = document.activeElement.closest('.deliveries > li')?.dataset ?? {}
  return () => {
    if (id) document.querySelector(`.deliveries > li[data-id="${id}"] a`)?.focus({ preventScroll: true })
  }
}

// Older pages do not change, so they have no such element.
onElement('.hooks:not(.imports) #live', (live, signal) => {
  const say = (connected) => {
    live.hidden = false
    live.textContent = connected ? 'Live' : 'Not connected'
    live.classList.toggle('lost', !connected)
  }
  follow(show, { signal, say })
})
