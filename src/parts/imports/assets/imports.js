// Updates the progress of the import, and saves authors without leaving the page. Without scripts, a reload and plain forms do the same.
import { toast } from './controls.js'
import { onElement } from './elements.js'
import { follow, read } from './live.js'

let main
const parts = ['steps', 'step-text', 'step-percent', 'bar', 'facts', 'files', 'report', 'authors-count', 'authors-list']
const find = (id) => document.getElementById(id)

// Announces a new state to screen readers.
let announcement

function openAnnouncement() {
  announcement = document.createElement('p')
  announcement.className = 'unseen'
  announcement.role = 'status'
  document.body.append(announcement)
}

function show(page) {
  const fresh = page.querySelector('main')
  const same = fresh.dataset.status === main.dataset.status && parts.every((id) => !find(id) === !page.getElementById(id))
  if (!same && !isTyping(main)) {
    exchange(main, fresh)
    main.dataset.status = fresh.dataset.status
    document.title = page.title
    announcement.textContent = ['title', 'need-title'].flatMap((id) => find(id)?.textContent ?? []).join(': ')
    say()
  } else {
    for (const id of parts) {
      const [old, now] = [find(id), page.getElementById(id)]
      if (old && now && old.innerHTML !== now.innerHTML && !isTyping(old)) exchange(old, now)
    }
  }
}

// Unsaved input is not replaced.
function isTyping(part) {
  const inputs = [...part.querySelectorAll('input:not([type="hidden"])')]
  return inputs.some(
    (input) => input === document.activeElement || input.value !== input.defaultValue || input.checked !== input.defaultChecked,
  )
}

// Moves an existing progress bar instead of replacing it. Keeps the keyboard focus.
function exchange(old, fresh) {
  const [bar, to] = [old.firstElementChild, fresh.firstElementChild]
  if (bar?.matches('progress[value]') && to?.matches('progress[value]'))
    return bar.setAttribute('value', to.getAttribute('value'))
  const active = document.activeElement
  const inside = old.contains(active)
  old.replaceChildren(...fresh.childNodes)
  if (inside) (find(active.id) ?? find('title'))?.focus({ preventScroll: true })
}

document.addEventListener('submit', async (event) => {
  const form = event.target
  if (!form.matches('.map')) return
  event.preventDefault()
  const row = form.closest('tr')
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) })
    const fresh = (await read(answer)).getElementById(row.id)
    if (!find('saved')) return tell(answer.ok ? 'Saved.' : 'The author was not saved.')
    if (!fresh?.querySelector('form')) return location.reload()
    row.replaceChildren(...fresh.childNodes)
    tell(answer.ok ? 'Saved.' : 'Not saved: see the errors.')
    ;(row.querySelector('[aria-invalid]') ?? row.querySelector('button'))?.focus()
  } catch {
    tell('The server could not be reached. Try again.')
  }
})

// Beside the authors, or at the edge of the next page if the person has followed a link meanwhile.
function tell(text) {
  const place = find('saved')
  if (place) place.textContent = text
  else toast(text)
}

let connected = false
function say() {
  const live = find('live')
  if (!live) return
  live.hidden = false
  live.textContent = connected ? 'Live' : 'Not connected'
  live.classList.toggle('lost', !connected)
}

onElement('main.imports[data-status]', (element, signal) => {
  main = element
  openAnnouncement()
  follow(show, {
    signal,
    say: (now) => {
      connected = now
      say()
    },
  })
})
