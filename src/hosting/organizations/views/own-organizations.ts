import { listMemberships } from '#hosting/organization-invitations/invitations.ts'
import type { Membership } from '#hosting/organizations/organizations.ts'
import { peopleList, personRow } from '#hosting/people/views/people-list.ts'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { badge } from '#web/components/label.ts'
import { askMenu } from '#web/components/menu.ts'
import { pager } from '#web/components/pager.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn } from '#web/page.ts'
import { settingsPage } from '#web/settings.ts'

const path = '/settings/organizations'
const perPage = 50

/** The visitor's organizations, and those that invite them. */
export async function ownOrganizations(visit: SignedIn): Promise<Outcome> {
  const page = pageIn(visit.query)
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const { rows, total } = await listMemberships(visit.db, visit.visitor, 'all', slice)
  const create = buttonLink('New organization', '/organizations/new')
  const list = rows.length
    ? html`<p class="buttons">${create}</p>${peopleList(rows.map((membership) => row(visit, membership)))}`
    : emptyState(
        'organization',
        'You are in no organization',
        'An organization owns repositories together with other people.',
        create,
      )
  return settingsPage(
    path,
    'Organizations',
    html`${banner(visit.flash.done)}${list}${pager(path, {}, page, Math.ceil(total / perPage))}`,
  )
}

function row(visit: SignedIn, { org, user, role, state }: Membership): Html {
  if (state === 'pending') {
    const more = html`<p class="facts-line">${badge('Invited', 'attention')}</p>`
    const actions = buttonLink('Answer', `/orgs/${org.login}/invitation`, {
      size: 'small',
      kind: 'primary',
      label: `Answer the invitation to ${org.login}`,
    })
    return personRow(org, { more, actions })
  }
  const more = html`<p class="facts-line">${role === 'admin' ? badge('Owner', 'accent') : html`<span>Member</span>`}</p>`
  const fields = html`<input type="hidden" name="login" value="${user.login}">${button('Leave', { kind: 'danger' })}`
  const leave = askMenu(
    html`<span class="button small danger">Leave</span>`,
    `Leave ${org.login}? You lose access to its private repositories and leave its teams.`,
    form(visit, `/orgs/${org.login}/people/remove`, fields, { class: '' }),
    { label: `Leave ${org.login}` },
  )
  const manage =
    role === 'admin' &&
    buttonLink('Settings', `/organizations/${org.login}/settings/profile`, { size: 'small', label: `Settings of ${org.login}` })
  return personRow(org, { more, actions: html`${manage}${leave}` })
}
