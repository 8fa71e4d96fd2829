// The command palette (Ctrl-K), the list of keys (?), and keys that go to a page.
import { isSingleKey, onKey } from './controls.js'
import { onElement } from './elements.js'
import { visit } from './turbo.js'

const make = (name, properties = {}, attributes = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children)
  return element
}

// The repository whose page is open, as `/owner/name`.
const here = () => document.querySelector('.repository-header .crumbs a:last-of-type')?.getAttribute('href') ?? ''

function openDialog(dialog) {
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

function openPalette() {
  if (document.querySelector('dialog[open]')) return
  const input = make(
    'input',
    {
      type: 'text',
      placeholder: 'Repository, person, #number, page or action',
      maxLength: 100,
      autocomplete: 'off',
      spellcheck: false,
    },
    {
      ...{
        role: 'combobox',
        'aria-expanded': 'true',
        'aria-controls': 'palette-list',
        'aria-autocomplete': 'list',
        'aria-label': 'Go to or do',
      },
    },
  )
  const list = make('div', { id: 'palette-list', className: 'palette-list' }, { role: 'listbox', 'aria-label': 'Results' })
  const said = make('p', { className: 'unseen' }, { role: 'status' })
  const hint = make('p', { className: 'palette-hint muted' })
  hint.innerHTML =
    '<kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> open, <kbd>&gt;</kbd> only actions and pages, <kbd>#12</kbd> or <kbd>owner/name#12</kbd> an issue'
  const dialog = make('dialog', { className: 'dialog palette' }, { 'aria-label': 'Command palette' }, input, list, said, hint)
  let options = []
  let asked
  // What the list was made for: it may be older than what is typed.
  let answered
  const select = (index) => {
    for (const [at, { element }] of options.entries()) element.setAttribute('aria-selected', String(at === index))
    const chosen = options[index]?.element
    if (!chosen) return input.removeAttribute('aria-activedescendant')
    input.setAttribute('aria-activedescendant', chosen.id)
    chosen.scrollIntoView({ block: 'nearest' })
  }
  const selected = () => options.findIndex(({ element }) => element.getAttribute('aria-selected') === 'true')
  const show = ({ groups, icons }) => {
    options = []
    list.replaceChildren(
      ...groups.map(({ title, items }) => {
        const group = make(
          'div',
          {},
          { role: 'group', 'aria-label': title },
          make('div', { className: 'palette-title', textContent: title }, { 'aria-hidden': 'true' }),
        )
        for (const item of items) {
          const element = make(
            'div',
            { id: `palette-${options.length}`, className: 'palette-item' },
            { role: 'option', 'aria-selected': 'false' },
          )
          element.innerHTML = icons[item.icon]
          element.append(make('span', { className: 'palette-text', textContent: item.text }))
          if (item.detail) element.append(make('bdi', { className: 'palette-detail muted', textContent: item.detail }))
          options.push({ element, item })
          group.append(element)
        }
        return group
      }),
    )
    if (!options.length) list.append(make('p', { className: 'muted palette-nothing', textContent: 'Nothing found.' }))
    said.textContent = `${options.length} results`
    select(0)
  }
  const ask = async () => {
    asked?.abort()
    asked = new AbortController()
    const q = input.value.trim()
    const query = new URLSearchParams({ q, here: here().slice(1) })
    try {
      const answer = await fetch(`/search/palette?${query}`, { signal: asked.signal })
      if (!answer.ok) return
      show(await answer.json())
      answered = q
    } catch (error) {
      if (error.name !== 'AbortError') said.textContent = 'The server does not answer.'
    }
  }
  const choose = (item, apart) => {
    dialog.close()
    if (item.post) return send(item)
    if (apart) return open(item.href)
    visit(item.href)
  }
  let waiting
  input.addEventListener('input', () => {
    clearTimeout(waiting)
    waiting = setTimeout(ask, 80)
  })
  input.addEventListener('keydown', async (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step && options.length) {
      event.preventDefault()
      select((selected() + step + options.length) % options.length)
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault()
      clearTimeout(waiting)
      if (answered !== input.value.trim()) await ask()
      const chosen = answered === input.value.trim() && options[selected()]
      if (chosen) choose(chosen.item, event.ctrlKey || event.metaKey)
    }
  })
  list.addEventListener('click', (event) => {
    const chosen = options.find(({ element }) => element.contains(event.target))
    if (chosen) choose(chosen.item, event.ctrlKey || event.metaKey)
  })
  openDialog(dialog)
  ask()
}

// Every page of a signed-in person has a form with the token.
function send({ href, post }) {
  const csrf = document.querySelector('input[name="csrf"]')?.value ?? ''
  const inputs = Object.entries({ csrf, ...post }).map(([name, value]) => make('input', { type: 'hidden', name, value }))
  const form = make('form', { method: 'post', action: href, hidden: true }, { 'data-turbo': 'false' }, ...inputs)
  document.body.append(form)
  form.requestSubmit()
}

const places = {
  h: ['Home', () => '/'],
  n: ['Notifications', () => '/notifications'],
  i: ['Issues', () => `${here()}/issues`],
  p: ['Pull requests', () => `${here()}/pulls`],
  c: ['Code of this repository', () => here() || '/explore'],
  e: ['Explore', () => '/explore'],
  s: ['Settings', () => '/settings'],
}

// A page adds its own with `data-page-keys`, a JSON list of pairs.
function openHelp() {
  const own = [...document.querySelectorAll('[data-page-keys]')].flatMap((element) => JSON.parse(element.dataset.pageKeys))
  const everywhere = [
    ['Ctrl K', 'Command palette'],
    ['/', 'Search'],
    ['?', 'This list'],
    ...Object.entries(places).map(([key, [text]]) => [`g ${key}`, text]),
  ]
  const table = (title, keys) =>
    make(
      'section',
      {},
      {},
      make('h3', { textContent: title }),
      make(
        'dl',
        {},
        {},
        ...keys.map(([key, text]) =>
          make(
            'div',
            {},
            {},
            make('dt', {}, {}, ...key.split(' ').flatMap((one) => [make('kbd', { textContent: one }), ' '])),
            make('dd', { textContent: text }),
          ),
        ),
      ),
    )
  const close = make('button', { className: 'button invisible', textContent: 'Close' })
  const header = make(
    'header',
    {},
    {},
    make('h2', { id: 'key-help-title', textContent: 'Keys' }),
    make('form', { method: 'dialog' }, {}, close),
  )
  const body = make(
    'div',
    { className: 'dialog-body' },
    {},
    ...(own.length ? [table('On this page', own)] : []),
    table('Everywhere', everywhere),
  )
  body.append(make('p', { className: 'muted', textContent: 'You can turn single keys off in the settings of the appearance.' }))
  openDialog(make('dialog', { className: 'dialog key-help' }, { 'aria-labelledby': 'key-help-title' }, header, body))
}

document.addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return
  if (event.defaultPrevented || event.target.matches?.('textarea')) return
  event.preventDefault()
  openPalette()
})

onKey(undefined, { '?': openHelp }, window)

// `g`, and then the key of a place within a moment. It comes before the keys of the page.
let since = -Infinity
addEventListener(
  'keydown',
  (event) => {
    if (!isSingleKey(event)) return
    const waited = event.timeStamp - since
    since = event.key === 'g' ? event.timeStamp : -Infinity
    if (event.key === 'g' || waited > 1500 || !Object.hasOwn(places, event.key)) return
    event.preventDefault()
    event.stopImmediatePropagation()
    visit(places[event.key][1]())
  },
  { capture: true },
)

for (const [selector, act] of [
  ['[data-palette]', openPalette],
  ['[data-key-help]', openHelp],
]) {
  onElement(selector, (button, signal) => {
    button.hidden = false
    button.addEventListener('click', act, { signal })
  })
}
