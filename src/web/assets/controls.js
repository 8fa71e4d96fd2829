// Copy buttons, menus, dialogs, and keys that work on every page.
import { onElement } from './elements.js'

onElement('[data-copy]', (button, signal) => {
  button.hidden = false
  button.addEventListener(
    'click',
    async () => {
      await navigator.clipboard.writeText(button.dataset.copy)
      button.classList.add('copied')
      toast('Copied.')
      setTimeout(() => button.classList.remove('copied'), 2000)
    },
    { signal },
  )
})

// When a page is replaced in place, buttons that scripts have shown stay.
document.addEventListener('turbo:before-morph-attribute', (event) => {
  if (event.detail.attributeName === 'hidden' && event.target.matches('[data-copy], [data-palette], [data-key-help]'))
    event.preventDefault()
})

// On a telephone, the current tab or settings page may be out of sight.
onElement('.tabs [aria-current], .settings nav [aria-current]', (tab) => {
  const bar = tab.closest('.tabs, nav')
  bar.scrollLeft = tab.offsetLeft - bar.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2
})

// A short message at the edge of the page.
export function toast(text) {
  let list = document.querySelector('.toasts')
  if (!list) {
    list = document.createElement('div')
    list.className = 'toasts'
    list.setAttribute('role', 'status')
    document.body.append(list)
  }
  const one = document.createElement('div')
  one.className = 'banner success'
  one.textContent = text
  list.append(one)
  setTimeout(() => one.remove(), 4000)
}

document.addEventListener('click', ({ target }) => {
  for (const open of document.querySelectorAll('details.menu[open]')) if (!open.contains(target)) open.open = false
  const opener = target.closest('[data-opens]')
  if (opener) document.getElementById(opener.dataset.opens)?.showModal()
  // A click on the backdrop closes a dialog.
  if (target.matches('dialog[open].dialog')) target.close()
})

document.addEventListener('keydown', (event) => {
  const menu = event.key === 'Escape' && document.querySelector('details.menu[open]')
  if (!menu) return
  menu.open = false
  menu.querySelector('summary').focus()
})

// Single keys do nothing while a person types, in a dialog, or when they are switched off in the settings.
export function isSingleKey(event) {
  if (document.documentElement.dataset.keys === 'off' || event.defaultPrevented) return false
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return false
  return !event.target.matches?.('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]')
}

// The keys of a page come before those of every page.
export function onKey(signal, keys, target = document) {
  target.addEventListener(
    'keydown',
    (event) => {
      if (!isSingleKey(event)) return
      const act = Object.hasOwn(keys, event.key) && keys[event.key]
      if (!act) return
      event.preventDefault()
      act(event)
    },
    { signal },
  )
}

onKey(undefined, { '/': () => document.querySelector('#site-search')?.focus() }, window)
