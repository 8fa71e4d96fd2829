// Keyboard shortcuts and live updates. Without scripts, the inbox is links and forms.
import { onKey } from './controls.js'
import { onElement } from './elements.js'
import { listen, read } from './live.js'

const find = (selector) => document.querySelector(selector)
const rows = () => [...document.querySelectorAll('.thread')]
const current = () => rows().indexOf(document.activeElement.closest('.thread'))

function move(step) {
  const all = rows()
  focusRow(all[Math.min(Math.max(current() + step, 0), all.length - 1)])
}

function focusRow(row) {
  row?.querySelector('.title').focus()
}

// Acts on the selected threads, or on the focused one if none is selected.
function act(name) {
  const button = find(`.selection button[value="${name}"]`)
  if (!button) return
  if (!find('[name="id"]:checked')) {
    const row = rows()[current()]
    if (!row) return
    row.querySelector('[name="id"]').checked = true
  }
  button.form.requestSubmit(button)
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  x: () => rows()[current()]?.querySelector('[name="id"]').click(),
  r: () => act('read'),
  e: () => act('done'),
  m: () => act('mute'),
  z: () => find('#undo')?.click(),
  '/': () => find('#q').focus(),
  '?': () => find('#keys').showModal(),
}

// Requests run one after the other, so that an older response never replaces a newer one.
let turn = Promise.resolve()
function exchange(address, init, parts, keep) {
  turn = turn.then(async () => {
    const response = await fetch(address, init)
    if (!response.ok || new URL(response.url).pathname !== location.pathname) return location.reload()
    const page = await read(response)
    const back = remember(keep)
    for (const id of parts) {
      const [old, fresh] = [document.getElementById(id), page.getElementById(id)]
      old.replaceChildren(...fresh.childNodes)
      old.hidden = fresh.hidden
    }
    document.title = page.title
    back()
    prepare()
    document.dispatchEvent(new Event('belfry:changed'))
  })
  turn = turn.catch(() => {
    if (init.method) find('#result').textContent = 'The server could not be reached. Try again.'
  })
}

// Keeps the focus and the selection, or moves the focus to the nearest row.
function remember(keep) {
  const active = document.activeElement
  const index = current()
  const { id } = rows()[index]?.dataset ?? {}
  const box = active.matches('[name="id"]')
  const button = active.matches('.selection button, #undo') && active.value
  const chosen = keep ? [...document.querySelectorAll('.thread:has(:checked)')].map(({ dataset }) => dataset.id) : []
  return () => {
    for (const row of rows()) if (chosen.includes(row.dataset.id)) row.querySelector('[name="id"]').checked = true
    if (active.isConnected) return
    const all = rows()
    const row = all.find((one) => one.dataset.id === id) ?? all[Math.min(Math.max(index, 0), all.length - 1)]
    const same = button && find(`.selection button[value="${button}"]`)
    if (same) same.focus()
    else if (index >= 0 || button !== false) box ? row?.querySelector('[name="id"]').focus() : focusRow(row)
  }
}

let waiting = false
function refresh() {
  if (waiting) return
  waiting = true
  turn = turn.then(() => {
    waiting = false
  })
  exchange(location.href, {}, ['threads', 'unread'], true)
}

function submit(event) {
  const form = event.target
  if (form.method !== 'post') return
  event.preventDefault()
  const body = new URLSearchParams(new FormData(form, event.submitter))
  exchange(form.action, { method: 'POST', body }, ['result', 'threads', 'unread'], false)
}

function prepare() {
  const every = find('#every')
  if (every) every.parentElement.hidden = false
}

onElement('#inbox', (inbox, signal) => {
  inbox.addEventListener('submit', submit, { signal })
  inbox.addEventListener(
    'change',
    ({ target }) => {
      if (target.id === 'every') for (const row of rows()) row.querySelector('[name="id"]').checked = target.checked
    },
    { signal },
  )
  // Enter on a checkbox would submit the form.
  inbox.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Enter' || !event.target.matches('[name="id"]')) return
      event.preventDefault()
      event.target.closest('.thread').querySelector('.title').click()
    },
    { signal },
  )
  onKey(signal, keys)
  listen('/notifications/stream', refresh, { signal })
  find('#keys-hint').hidden = false
  prepare()
})
