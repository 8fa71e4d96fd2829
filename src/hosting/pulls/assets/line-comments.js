// Begins a comment at the line that is pressed, without loading the page again. With Shift, the comment reaches from that line to the one
// where the form is open, or the other way round.
import { onElement } from './elements.js'

const placeOf = (link) => /^(.*)([LR])(\d+)$/.exec(link.id)?.slice(1)

onElement('.diff', (diff, signal) => {
  const template = document.getElementById('line-form')
  if (!template) return
  diff.addEventListener(
    'click',
    (event) => {
      const link = event.target.closest('a.comment-link')
      if (!link || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      const open = diff.querySelector('.line-form')
      if (event.shiftKey && open && widen(open, link)) return
      begin(link, open)
    },
    { signal },
  )
  diff.addEventListener(
    'click',
    (event) => {
      const cancel = event.target.closest('.line-form a.button')
      if (!cancel) return
      event.preventDefault()
      const { anchor } = cancel.closest('form').elements
      cancel.closest('tr').remove()
      document.getElementById(anchor.value)?.focus()
    },
    { signal },
  )

  function begin(link, open) {
    const [, side, line] = placeOf(link)
    const text = open?.elements.body.value ?? ''
    open?.closest('tr').remove()
    const row = link.closest('tr')
    const said = document.createElement('tr')
    said.className = 'said'
    const cell = said.insertCell()
    cell.colSpan = [...row.cells].reduce((sum, one) => sum + one.colSpan, 0)
    cell.append(template.content.cloneNode(true))
    let last = row
    while (last.nextElementSibling?.classList.contains('said')) last = last.nextElementSibling
    last.after(said)
    const form = said.querySelector('form')
    const { elements } = form
    elements.anchor.value = link.id
    elements.path.value = link.closest('.diff-file').getAttribute('aria-label')
    elements.line.value = line
    elements.side.value = side
    elements.start_line.placeholder = line
    elements.body.value = text
    form.querySelector('label[for="line-comment"]').textContent = `Comment on line ${line}`
    document.dispatchEvent(new Event('belfry:changed'))
    elements.body.focus()
  }

  function widen(form, link) {
    const { elements } = form
    const from = placeOf(document.getElementById(elements.anchor.value))
    const to = placeOf(link)
    if (!from || from[0] !== to[0] || from[1] !== to[1] || from[2] === to[2]) return false
    if (Number(to[2]) < Number(from[2])) {
      elements.start_line.value = to[2]
    } else {
      begin(link, form)
      diff.querySelector('.line-form').elements.start_line.value = from[2]
    }
    return true
  }
})

// A suggestion begins with the lines as they are.
onElement('.line-form .suggest', (button, signal) => {
  const { elements } = button.form
  button.hidden = elements.side.value !== 'R'
  button.addEventListener(
    'click',
    () => {
      const key = elements.anchor.value.replace(/R\d+$/, 'R')
      const lines = []
      for (let line = Number(elements.start_line.value || elements.line.value); line <= Number(elements.line.value); line++)
        lines.push(document.getElementById(`${key}${line}`)?.closest('td').nextElementSibling?.textContent ?? '')
      const { body } = elements
      body.value += `${body.value && !body.value.endsWith('\n') ? '\n' : ''}\`\`\`suggestion\n${lines.join('\n')}\n\`\`\`\n`
      body.focus()
    },
    { signal },
  )
})
