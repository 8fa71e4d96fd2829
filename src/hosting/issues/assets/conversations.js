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
    details.querySelector('.picker-filter:not([hidden]), input:not([type="hidden"])')?.focus()
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
  box.querySelector('.composer-tabs').hidden = false
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
  const kept = sessionStorage.getItem(key)
  if (kept && kept !== area.value) {
    // The server wrote a quotation: it comes after the draft.
    if (area.value === area.defaultValue && new URLSearchParams(location.search).has('quote'))
      area.value = `${kept}\n\n${area.value}`
    else if (area.value === area.defaultValue) area.value = kept
  }
  area.addEventListener('input', () => (area.value ? sessionStorage.setItem(key, area.value) : sessionStorage.removeItem(key)), {
    signal,
  })
  if (area.value.startsWith('> ')) area.setSelectionRange(area.value.length, area.value.length)
  area.form.addEventListener(
    'turbo:submit-end',
    ({ detail }) => {
      if (detail.success) sessionStorage.removeItem(key)
    },
    { signal },
  )
})

// The boxes of a task list change the text. Without scripts they only show it.
onElement('[data-tasks]', (post, signal) => {
  const boxes = [...post.querySelectorAll(':scope > .markdown input[type="checkbox"]')]
  for (const [index, box] of boxes.entries()) {
    box.disabled = false
    box.addEventListener(
      'change',
      () => {
        const { tasks, post: id, version } = post.dataset
        const form = document.createElement('form')
        form.method = 'post'
        form.action = tasks
        form.hidden = true
        form.dataset.turboAction = 'replace'
        const csrf = document.querySelector('input[name="csrf"]').value
        for (const [name, value] of Object.entries({ csrf, post: id, version, task: index, done: box.checked ? 'yes' : 'no' })) {
          const input = document.createElement('input')
          Object.assign(input, { type: 'hidden', name, value })
          form.append(input)
        }
        for (const one of boxes) one.disabled = true
        post.append(form)
        form.requestSubmit()
      },
      { signal },
    )
  }
})

// A long list of choices can be narrowed by typing.
onElement('.picker-filter', (filter, signal) => {
  const rows = [...filter.closest('fieldset').querySelectorAll('.picker-row')]
  filter.hidden = false
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
