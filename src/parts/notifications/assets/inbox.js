// Keyboard shortcuts and live updates. Without scripts, the inbox is links and forms.
import { onKey } from './controls.js'
import { onElement } from './elements.js'
import { listen, readPage } from './live.js'
import { visit } from './turbo.js'

const find = (selector) => document.querySelector(selector)
const rows = () => [...document.querySelectorAll('.thread')]
const current = () => rows().indexOf(document.activeElement.closest('.thread'))
// The thread that keys act on: the focused one, or the one in the reading pane.
const target = () => rows()[current()] ?? find('.thread.opened')
const wide = matchMedia('(min-width: 70rem)')
const parts = ['invitations', 'threads', 'unread', 'side', 'pane']

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
    const row = target()
    if (!row) return
    row.querySelector('[name="id"]').checked = true
  }
  button.form.requestSubmit(button)
}

// The menu acts on the selected threads, so the focused one is selected first.
function snooze() {
  const menu = find('.selection [data-key="snooze"]')
  if (!menu) return
  if (!find('[name="id"]:checked')) {
    const row = target()
    if (!row) return
    row.querySelector('[name="id"]').checked = true
  }
  menu.open = true
  menu.querySelector('button').focus()
}

// Shows a thread beside the list, or closes the reading pane.
function read(row) {
  const address = new URL(location.href)
  address.searchParams.delete('flash')
  if (row) address.searchParams.set('thread', row.dataset.id)
  else address.searchParams.delete('thread')
  history.replaceState(history.state, '', address)
  exchange(address, { headers: { 'X-Belfry-Shown': '1' } }, parts, true)
}

const closePane = () => !find('#pane').hidden && read(null)

const keys = {
  j: () => move(1),
  k: () => move(-1),
  x: () => rows()[current()]?.querySelector('[name="id"]').click(),
  o: () => {
    const address = target()?.querySelector('.title').href
    if (address) visit(address)
  },
  s: snooze,
  r: () => act('read'),
  e: () => act('done'),
  m: () => act('mute'),
  z: () => find('#undo')?.click(),
  '/': () => find('#q').focus(),
  Escape: () => find('details.menu[open]') || closePane(),
}

// The path of the inbox, and a signal that aborts when a person has left it.
let shown
// Requests run one after the other, so that an older response never replaces a newer one.
let turn = Promise.resolve()
function exchange(address, init, parts, keep) {
  const { path, signal } = shown
  turn = turn.then(async () => {
    if (signal.aborted && !init.method) return
    const page = await readPage(path, await fetch(address, init))
    if (!page || signal.aborted) return
    const back = remember(keep)
    for (const id of parts) {
      const [old, fresh] = [document.getElementById(id), page.getElementById(id)]
      old.replaceChildren(...fresh.childNodes)
      old.hidden = fresh.hidden
    }
    find('#panes').className = page.getElementById('panes').className
    document.title = page.title
    back()
    prepare()
    document.dispatchEvent(new Event('belfry:changed'))
  })
  turn = turn.catch(() => {
    if (init.method && !signal.aborted) find('#result').textContent = 'The server could not be reached. Try again.'
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
  exchange(location.href, {}, parts, true)
}

function submit(event) {
  const form = event.target
  if (form.method !== 'post') return
  event.preventDefault()
  const body = new URLSearchParams(new FormData(form, event.submitter))
  for (const menu of document.querySelectorAll('#inbox details.menu[open]')) menu.open = false
  // Forms of the reading pane lead back to the list alone.
  if (form.closest('#pane')) history.replaceState(history.state, '', form.action)
  exchange(form.action, { method: 'POST', body }, ['result', ...parts], false)
}

function prepare() {
  for (const field of document.querySelectorAll('#inbox [name="offset"]')) field.value = new Date().getTimezoneOffset()
  const every = find('#every')
  if (every) every.parentElement.hidden = false
}

onElement('#inbox', (inbox, signal) => {
  shown = { path: location.pathname, signal }
  inbox.addEventListener('submit', submit, { signal })
  inbox.addEventListener(
    'change',
    ({ target }) => {
      if (target.id === 'every') for (const row of rows()) row.querySelector('[name="id"]').checked = target.checked
    },
    { signal },
  )
  inbox.addEventListener(
    'click',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return
      const title = wide.matches && event.target.closest('[data-pane]')
      if (!title && !event.target.closest('#close-pane')) return
      event.preventDefault()
      read(title ? title.closest('.thread') : null)
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
  prepare()
})
