// The first page: new events, more events, and finding one's repositories while typing.
import { toast } from './controls.js'
import { onElement } from './elements.js'
import { follow, read } from './live.js'

const linesIn = (element) => [...element.querySelectorAll('.activity-list > li')]

onElement('#home-activity[data-stream]', (section, signal) => {
  // A page that Turbo kept has the bar of its last visit.
  for (const old of document.querySelectorAll('.new-events')) old.remove()
  const bar = document.createElement('div')
  bar.className = 'new-events'
  bar.setAttribute('role', 'status')
  section.before(bar)
  signal.addEventListener('abort', () => bar.remove())
  let fresh
  bar.addEventListener('click', ({ target }) => {
    if (!target.closest('button')) return
    section.replaceChildren(...fresh.querySelector('#home-activity').childNodes)
    bar.replaceChildren()
    document.dispatchEvent(new Event('belfry:changed'))
    section.querySelector('.activity-list a')?.focus()
  })
  follow(
    (page) => {
      const now = page.querySelector('#home-activity')
      if (!now) return
      const known = new Set(linesIn(section).map(({ id }) => id))
      const lines = linesIn(now)
      const before = lines.findIndex(({ id }) => known.has(id))
      const count = before < 0 ? lines.length : before
      fresh = page
      const side = page.querySelector('#home-side')
      const shown = document.querySelector('#home-side')
      const finding = shown?.querySelector('.quick-find input')?.value
      if (side && shown && !finding && !shown.contains(document.activeElement)) shown.replaceWith(side)
      if (count === 0) return
      const button = document.createElement('button')
      button.type = 'button'
      button.className = 'button small'
      button.textContent = count === 1 ? 'Show 1 new line' : `Show ${count} new lines`
      bar.replaceChildren(button)
    },
    { signal, address: section.dataset.stream },
  )
})

onElement('.home .load-more a', (link, signal) => {
  link.addEventListener(
    'click',
    async (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      if (link.getAttribute('aria-busy')) return
      link.setAttribute('aria-busy', 'true')
      try {
        const page = await read(await fetch(link.href, { signal }))
        const lines = linesIn(page)
        document.querySelector('#home-activity .activity-list').append(...lines)
        const ending = [...page.querySelectorAll('#home-activity > .more')].at(-1)
        link.closest('.more').replaceWith(...(ending ? [ending] : []))
        document.dispatchEvent(new Event('belfry:changed'))
        lines[0]?.querySelector('a')?.focus()
      } catch (error) {
        link.removeAttribute('aria-busy')
        if (error.name !== 'AbortError') toast('That did not work. Try again.')
      }
    },
    { signal },
  )
})

// Enter finds among all repositories of the person; typing finds among those on the page.
onElement('.quick-find input', (input, signal) => {
  input.addEventListener(
    'input',
    () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
      for (const item of document.querySelectorAll('.repository-finder > li'))
        item.hidden = !words.every((word) => item.dataset.name.includes(word))
    },
    { signal },
  )
})
