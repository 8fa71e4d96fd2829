// Pages of issues and pull requests.
import { onKey, toast } from './controls.js'
import { onElement } from './elements.js'

// A link to a comment that is not among those shown leads to where it is.
onElement('.conversation .timeline', (_, signal) => {
  const show = () => {
    const [, id] = /^#issuecomment-(\d{1,15})$/.exec(location.hash) ?? []
    if (id && !document.getElementById(location.hash.slice(1)) && !location.search.includes('from=')) {
      location.replace(`${location.pathname}?from=${id}${location.hash}`)
    }
  }
  show()
  addEventListener('hashchange', show, { signal })
  const open = (menu) => () => {
    const details = document.querySelector(`.conversation aside details[data-key="${menu}"]`)
    if (!details) return
    details.open = true
    details.querySelector('.picker-filter, input:not([type="hidden"])')?.focus()
  }
  onKey(signal, {
    r: () => document.querySelector('#comment')?.focus(),
    l: open('label'),
    a: open('assignee'),
    m: open('milestone'),
  })
})

onElement('.composer', (box, signal) => {
  const [write, look] = box.querySelectorAll('.composer-tab')
  const area = box.querySelector('textarea')
  const shown = box.querySelector('.composer-preview[role="tabpanel"]')
  const choose = (preview) => {
    write.setAttribute('aria-selected', String(!preview))
    look.setAttribute('aria-selected', String(preview))
    area.hidden = preview
    shown.hidden = !preview
  }
  write.addEventListener(
    'click',
    () => {
      choose(false)
      area.focus()
    },
    { signal },
  )
  look.addEventListener(
    'click',
    async () => {
      choose(true)
      shown.textContent = 'Loading…'
      const csrf = box.closest('form').elements.csrf.value
      const answer = await fetch(box.dataset.preview, {
        method: 'POST',
        body: new URLSearchParams({ csrf, body: area.value }),
        redirect: 'manual',
      }).catch(() => undefined)
      if (!answer?.ok) {
        shown.textContent = 'There is no preview now. Your text is safe; write on, or try again.'
        return
      }
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const body = document.createElement('div')
      body.className = 'markdown'
      body.append(...page.body.childNodes)
      shown.replaceChildren(body)
    },
    { signal },
  )
  area.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      const { form } = area
      form.requestSubmit(form.querySelector('button.primary') ?? undefined)
    },
    { signal },
  )
})

// What was typed and not sent comes back when the page is opened again in this tab.
onElement('textarea[data-draft]', (area, signal) => {
  const key = `draft ${area.dataset.draft}`
  const restore = () => {
    const kept = sessionStorage.getItem(key)
    if (!kept || kept === area.value || area.value !== area.defaultValue) return
    // A quotation that the server wrote comes after the draft.
    area.value = new URLSearchParams(location.search).has('quote') ? `${kept}\n\n${area.value}` : kept
  }
  restore()
  document.addEventListener('turbo:render', restore, { signal })
  if (area.value.startsWith('> ')) area.setSelectionRange(area.value.length, area.value.length)
  area.addEventListener(
    'input',
    () => {
      if (area.value) sessionStorage.setItem(key, area.value)
      else sessionStorage.removeItem(key)
    },
    { signal },
  )
  area.form.addEventListener('turbo:submit-end', ({ detail }) => detail.success && sessionStorage.removeItem(key), { signal })
})

// The boxes of a task list change the text. Without scripts they only show it.
onElement('[data-tasks]', (post, signal) => {
  const boxes = () => [...post.querySelectorAll(':scope > .markdown input[type="checkbox"]')]
  const enable = (enabled) => {
    for (const box of boxes()) box.disabled = !enabled
  }
  enable(true)
  document.addEventListener('turbo:render', () => enable(true), { signal })
  post.addEventListener(
    'change',
    ({ target }) => {
      const task = boxes().indexOf(target)
      if (task < 0) return
      const { tasks, post: id, version } = post.dataset
      const form = document.createElement('form')
      Object.assign(form, { method: 'post', action: tasks, hidden: true })
      form.dataset.turboAction = 'replace'
      const csrf = document.querySelector('input[name="csrf"]').value
      for (const [name, value] of Object.entries({ csrf, post: id, version, task, done: target.checked ? 'yes' : 'no' })) {
        const input = document.createElement('input')
        Object.assign(input, { type: 'hidden', name, value })
        form.append(input)
      }
      enable(false)
      post.append(form)
      form.requestSubmit()
    },
    { signal },
  )
})

// A long list of choices can be narrowed by typing.
onElement('.picker-filter', (filter, signal) => {
  const rows = [...filter.closest('fieldset').querySelectorAll('.picker-row')]
  filter.addEventListener(
    'input',
    () => {
      const wanted = filter.value.trim().toLowerCase()
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted)
    },
    { signal },
  )
  // Enter checks the only row that is left, and does not send the form.
  filter.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Enter') return
      event.preventDefault()
      const left = rows.filter((row) => !row.hidden)
      if (left.length === 1) left[0].querySelector('input').click()
      else toast('Type until one choice is left, then press Enter.')
    },
    { signal },
  )
})
