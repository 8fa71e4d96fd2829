import { join } from 'node:path'
import { describePeople } from '#hosting/people/people.ts'
import type { Person } from '#identity/accounts.ts'
import { avatar } from '#web/components/avatar.ts'
import { badge } from '#web/components/label.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'

export const assets = join(import.meta.dirname, '../assets')

/** People as cards, with whether the visitor follows them. `about` is a line below the name, such as since when they watch. */
export async function peopleList<P extends Person>(visit: Visit, people: P[], about: (person: P) => Html): Promise<Html> {
  const listings = await describePeople(
    visit.db,
    visit.visitor?.id ?? null,
    people.map(({ id }) => id),
  )
  const cards = people.map((person) => {
    const { name = null, followed = false } = listings.get(person.id) ?? {}
    return html`<li>${avatar(person, 40)}<div><p><a href="/${person.login}"><strong>${name || person.login}</strong></a>${name && html` <span class="muted">${person.login}</span>`}</p>
<p class="muted">${about(person)}</p></div>${person.id === visit.visitor?.id ? badge('You') : followed && badge('Following', 'accent')}</li>`
  })
  return html`<ul class="people-list">${cards}</ul>`
}
