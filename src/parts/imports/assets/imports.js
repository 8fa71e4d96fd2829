// Shows how far the import has come, and saves authors without leaving the page. Without scripts, a reload does it, and forms are forms.
import { follow, read } from './live.js'

const main = document.querySelector('main')
const parts = ['steps', 'step-text', 'step-percent', 'bar', 'facts', 'files', 'report', 'authors-count', 'authors-list']
const find = (id) => document.getElementById(id)

// For those who do not see that the page has become another.
const told = document.createElement('p')
told.className = 'unseen'
told.role = 'status'
document.body.append(told)

function show(page) {
  const fresh = page.querySelector('main')
  const same = fresh.dataset.status === main.dataset.status && parts.every((id) => !find(id) === !page.getElementById(id))
  if (!same && !isTyping(main)) {
    exchange(main, fresh)
    main.dataset.status = fresh.dataset.status
    document.title = page.title
    told.textContent = ['title', 'need-title'].flatMap((id) => find(id)?.textContent ?? []).join(': ')
    say()
  } else {
    for (const id of parts) {
      const [old, now] = [find(id), page.getElementById(id)]
      if (old && now && old.innerHTML !== now.innerHTML && !isTyping(old)) exchange(old, now)
    }
  }
}

// What somebody is at is not taken from them.
function isTyping(part) {
  const inputs = [...part.querySelectorAll('input:not([type="hidden"])')]
  return inputs.some(
    (input) => input === document.activeElement || input.value !== input.defaultValue || input.checked !== input.defaultChecked,
  )
}

// A bar moves on, and is not a new one. The keyboard stays where it is, or as near as can be.
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
    if (!fresh?.querySelector('form')) return location.reload()
    row.replaceChildren(...fresh.childNodes)
    find('saved').textContent = answer.ok ? 'Saved.' : 'Not saved: see what is wrong.'
    ;(row.querySelector('[aria-invalid]') ?? row.querySelector('button'))?.focus()
  } catch {
    find('saved').textContent = 'That did not reach the server. Try again.'
  }
})

let connected = false
function say() {
  const live = find('live')
  if (!live) return
  live.hidden = false
  live.textContent = connected ? 'Live' : 'Not connected'
  live.classList.toggle('lost', !connected)
}

follow(show, (now) => {
  connected = now
  say()
})
