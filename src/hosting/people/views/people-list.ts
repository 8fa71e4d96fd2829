import { describePeople } from '#hosting/people/people.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { avatar } from '#web/components/avatar.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'

type Shown = Pick<Account, 'id' | 'type' | 'login'> & Partial<Pick<Account, 'name' | 'bio' | 'location'>>

/** A person of a list; `more` stands below the name, `actions` at the end of the row. */
export function personRow(account: Shown, { more, actions }: { more?: Html | undefined; actions?: Html | undefined } = {}): Html {
  const { login, name, bio } = account
  return html`<li>${avatar(account, 40)}<div class="who"><p><a href="/${login}">${name && html`<strong>${name}</strong> `}<span class="${name ? 'muted' : 'only'}">${login}</span></a></p>${bio && html`<p class="muted">${bio}</p>`}${more}</div>${actions && html`<div class="buttons">${actions}</div>`}</li>`
}

export const peopleList = (rows: Html[]): Html => html`<ul class="plain people-list">${rows}</ul>`

/** Follows or unfollows, and returns to the page. A visitor who is not signed in is led to the sign-in; nobody follows themselves. */
export function followButton(
  visit: Visit,
  account: Pick<Account, 'id' | 'login' | 'type'>,
  followed: boolean,
  size: 'small' | 'medium' = 'small',
): Html | undefined {
  const { visitor, request } = visit
  if (visitor?.id === account.id || account.type !== 'User') return undefined
  const label = `${followed ? 'Unfollow' : 'Follow'} ${account.login}`
  if (!visitor) return buttonLink('Follow', `/login?return_to=${encodeURIComponent(request.url)}`, { size, label })
  const fields = html`<input type="hidden" name="return_to" value="${request.url}">${button(followed ? 'Unfollow' : 'Follow', { size, label })}`
  return form(visit, `/users/${account.login}/${followed ? 'unfollow' : 'follow'}`, fields, { class: 'inline' })
}

/** People whom the visitor can follow. `about` is a line below the name, such as since when they watch. */
export async function listPeople<P extends Person>(visit: Visit, people: P[], about: (person: P) => Html): Promise<Html> {
  const ids = people.map(({ id }) => id)
  const known = await describePeople(visit.db, visit.visitor?.id ?? null, ids)
  const rows = people.map((person) => {
    const { name = null, followed = false } = known.get(person.id) ?? {}
    const more = html`<p class="muted">${about(person)}</p>`
    return personRow({ ...person, name }, { more, actions: followButton(visit, person, followed) })
  })
  return peopleList(rows)
}
