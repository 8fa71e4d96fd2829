import { addressOf, type FeedChoice, isNarrowed, type Kind, kinds } from '#parts/home/feed-choice.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { menu } from '#web/components/menu.ts'
import { segments } from '#web/components/tabs.ts'
import { choice as checkbox, field } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'

/** Where the events come from, and a menu for their kinds, one repository or one person. */
export function feedFilters(choice: FeedChoice): Html {
  const sources = { all: 'All', repositories: 'Watched repositories', people: 'People I follow' } as const
  const items = Object.entries(sources).map(([from, text]) => ({
    text,
    href: addressOf({ ...choice, repo: '', by: '', from: from as FeedChoice['from'] }),
    current: choice.from === from && !choice.repo && !choice.by,
  }))
  const count = choice.kinds.length + Number(choice.repo !== '') + Number(choice.by !== '')
  const summary = html`<span class="button small">${icon('filter')} Filter${count > 0 && html` <span class="counter">${count}</span>`} ${icon('triangle-down')}</span>`
  return html`<div class="feed-filters">${segments('Where from', items)}<span class="space"></span>${menu(summary, [{ markup: filterForm(choice) }], { kind: 'feed-menu' })}</div>${chosen(choice)}`
}

function filterForm(choice: FeedChoice): Html {
  const boxes = Object.entries(kinds).map(([kind, { text }]) =>
    checkbox({ name: 'kind', value: kind, chosen: choice.kinds.includes(kind as Kind) }, text),
  )
  return html`<form method="get" action="/" class="feed-form">${choice.from !== 'all' && html`<input type="hidden" name="from" value="${choice.from}">`}
<fieldset><legend>Kinds</legend>${boxes}</fieldset>
${field({ label: 'Only in the repository', name: 'repo', id: 'feed-repo', value: choice.repo, hint: 'owner/name', longest: 140 })}
${field({ label: 'Only by the person', name: 'by', id: 'feed-by', value: choice.by, longest: 40 })}
<p class="buttons">${button('Show', { kind: 'primary', size: 'small' })}${isNarrowed(choice) && buttonLink('Clear', '/', { size: 'small' })}</p></form>`
}

/** What is chosen, each with a link that removes it. */
function chosen(choice: FeedChoice): Html | false {
  const chips = [
    ...(choice.repo ? [chip(`in ${choice.repo}`, { ...choice, repo: '' })] : []),
    ...(choice.by ? [chip(`by ${choice.by}`, { ...choice, by: '' })] : []),
    ...choice.kinds.map((kind) => chip(kinds[kind].text, { ...choice, kinds: choice.kinds.filter((one) => one !== kind) })),
  ]
  return chips.length > 0 && html`<ul class="feed-chips">${chips}</ul>`
}

const chip = (text: string, without: FeedChoice) =>
  html`<li><a href="${addressOf(without)}" aria-label="Do not filter: ${text}"><span>${text}</span> ${icon('x')}</a></li>`
