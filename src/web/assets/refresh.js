// A page with `data-stream` and `data-live` loads itself again when its stream names another version. What a person has begun there stays.
import { onElement } from './elements.js'
import { listen } from './live.js'

// At most one refresh in this time, in milliseconds.
const pause = 1000

let refreshing = false
// A refresh would cancel a form that is being sent, or the page that answers it.
let sending = 0
let answered = false
const settled = new EventTarget()
const settle = () => {
  answered = false
  settled.dispatchEvent(new Event('settled'))
}
document.addEventListener('turbo:submit-start', () => {
  sending++
  // The answer replaces what was begun.
  refreshing = false
})
document.addEventListener('turbo:submit-end', () => {
  sending = Math.max(sending - 1, 0)
  answered = true
  // Not every answer is a page.
  setTimeout(settle, 2000)
})
document.addEventListener('turbo:load', () => {
  refreshing = false
  settle()
})
for (const event of ['turbo:click', 'turbo:fetch-request-error'])
  document.addEventListener(event, () => {
    refreshing = false
  })

onElement('main[data-stream][data-live]', (main, signal) => {
  let wanted
  let last = 0
  let timer
  const refresh = () => {
    clearTimeout(timer)
    if (signal.aborted || wanted === undefined || wanted === main.dataset.live) return
    const early = last + pause - Date.now()
    if (early > 0) {
      timer = setTimeout(refresh, early)
      return
    }
    if (sending || answered || refreshing || document.hidden || Turbo.navigator.currentVisit) return
    wanted = undefined
    last = Date.now()
    refreshing = true
    Turbo.session.refresh(document.baseURI)
  }
  settled.addEventListener('settled', refresh, { signal })
  listen(
    main.dataset.stream,
    (event) => {
      if (!event?.data) return
      wanted = JSON.parse(event.data).version
      refresh()
    },
    { signal },
  )
})

const isChanged = (field) =>
  field.type === 'checkbox' || field.type === 'radio'
    ? field.checked !== field.defaultChecked
    : field.tagName === 'SELECT'
      ? [...field.options].some((option) => option.selected !== option.defaultSelected) && field.selectedIndex > 0
      : field.type !== 'hidden' && field.value !== field.defaultValue

const isBegun = (part) =>
  part.contains(document.activeElement) || [...part.querySelectorAll('input, textarea, select')].some(isChanged)

// Text boxes, menus and forms that a person uses, dialogs, and what scripts have added.
const kept = (element) =>
  element.matches('dialog[open], details.menu[open], .toasts, .line-form, tr:has(> td > .line-form)') ||
  (element.matches('.composer, details.lock, .title-form, fieldset, .review-thread') && isBegun(element)) ||
  (element.matches('input, textarea, select') && (element === document.activeElement || isChanged(element)))

document.addEventListener('turbo:before-morph-element', (event) => {
  if (refreshing && kept(event.target)) event.preventDefault()
})
document.addEventListener('turbo:before-morph-attribute', (event) => {
  const { attributeName } = event.detail
  // Also after a form: only the script knows which files a person has viewed.
  const viewed = event.target.closest('.viewed') || (attributeName === 'open' && event.target.matches('.diff-file > details'))
  const folds = refreshing && attributeName === 'open' && event.target.tagName === 'DETAILS'
  if (viewed || folds) event.preventDefault()
})
