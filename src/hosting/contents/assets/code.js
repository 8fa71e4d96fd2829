// Pages of files: chosen lines, copying, finding files, branches and tags.
import { onKey, toast } from './controls.js'
import { onElement } from './elements.js'

// `#L3` or `#L3-L7`.
const chosenLines = () => {
  const [, first, last = first] = /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash) ?? []
  return first && [Number(first), Number(last)].sort((a, b) => a - b)
}

onElement('.file:has(.code-lines)', (file, signal) => {
  const mark = () => {
    for (const line of file.querySelectorAll('.line.chosen')) line.classList.remove('chosen')
    const chosen = chosenLines()
    if (!chosen) return
    for (let number = chosen[0]; number <= Math.min(chosen[1], chosen[0] + 20000); number++)
      document.getElementById(`L${number}`)?.classList.add('chosen')
  }
  mark()
  if (chosenLines()) document.getElementById(`L${chosenLines()[0]}`)?.scrollIntoView({ block: 'center' })
  window.addEventListener('hashchange', mark, { signal })
  file.addEventListener(
    'click',
    (event) => {
      const number = event.target.closest('.line > a:first-child')
      if (!number) return
      event.preventDefault()
      const chosen = chosenLines()
      const line = Number(number.textContent)
      const [first, last] = event.shiftKey && chosen ? [Math.min(chosen[0], line), Math.max(chosen[0], line)] : [line, line]
      history.replaceState(history.state, '', first === last ? `#L${first}` : `#L${first}-L${last}`)
      mark()
    },
    { signal },
  )
})

onElement('[data-copy-file]', (button, signal) => {
  button.hidden = false
  button.addEventListener(
    'click',
    async () => {
      const answer = await fetch(button.dataset.copyFile)
      if (!answer.ok) return
      await navigator.clipboard.writeText(await answer.text())
      toast('Copied.')
    },
    { signal },
  )
})

onElement('.code-page a[href*="/find/"]', (link, signal) => onKey(signal, { t: () => link.click() }))
for (const [key, selector] of Object.entries({ b: '.file .segments a[href*="/blame/"]', e: '.file a[href*="/edit/"]' }))
  onElement(selector, (link, signal) => onKey(signal, { [key]: () => link.click() }))
onElement('[data-permalink]', (page, signal) =>
  onKey(signal, { y: () => history.replaceState(history.state, '', page.dataset.permalink + location.search + location.hash) }),
)

onElement('[data-filters-menu]', (input, signal) => {
  input.hidden = false
  const menu = input.closest('details')
  menu.addEventListener('toggle', () => menu.open && input.focus(), { signal })
  input.addEventListener(
    'input',
    () => {
      const words = input.value.trim().toLowerCase()
      for (const name of menu.querySelectorAll('li .ref-name'))
        name.closest('li').hidden = !name.textContent.toLowerCase().includes(words)
    },
    { signal },
  )
})

// Shows what is found while a person types, and follows the first one on Enter.
onElement('[data-finds]', (input, signal) => {
  let timer
  let latest = 0
  const find = async () => {
    const turn = ++latest
    const url = new URL(input.form.action)
    url.searchParams.set('q', input.value)
    const answer = await fetch(url, { signal }).catch(() => null)
    if (!answer?.ok || turn !== latest) return
    const found = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector(input.dataset.finds)
    if (found && turn === latest) document.querySelector(input.dataset.finds)?.replaceWith(found)
  }
  input.addEventListener(
    'input',
    () => {
      clearTimeout(timer)
      timer = setTimeout(find, 120)
    },
    { signal },
  )
  input.form.addEventListener(
    'submit',
    (event) => {
      const first = document.querySelector(`${input.dataset.finds} a`)
      if (!first) return
      event.preventDefault()
      first.click()
    },
    { signal },
  )
  input.focus()
})

// Headings of a rendered file have a prefix, so that they are not taken for parts of the page.
onElement('.markdown', (text) => {
  const name = decodeURIComponent(location.hash.slice(1)).toLowerCase()
  if (name && !document.getElementById(location.hash.slice(1)))
    text.querySelector(`#${CSS.escape(`user-content-${name}`)}`)?.scrollIntoView()
})
