import { listMembers, loadOrganization, type Organization } from '#hosting/organizations/organizations.ts'
import { invitedBanner } from '#hosting/organizations/views/invitations.ts'
import { organizationHeader } from '#hosting/organizations/views/organization-header.ts'
import { listOwned, listOwnedLanguages } from '#hosting/repositories/owned.ts'
import { repositoryCards } from '#hosting/repositories/views/owned-repositories.ts'
import { pageIn, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { languageDot } from '#hosting/statistics/views/language.ts'
import type { Account } from '#identity/accounts.ts'
import { eventsPerPage, loadActivity } from '#parts/timelines/activity.ts'
import { timelines } from '#parts/timelines/timelines.ts'
import { activityList } from '#parts/timelines/views/activity-list.ts'
import { avatar } from '#web/components/avatar.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'

const [mostPopular, mostPeople, mostLanguages] = [6, 30, 8]

/** What an organization has, and what happens in its repositories. */
export async function organizationPage(visit: Visit, account: Account): Promise<Outcome> {
  const { db, visitor } = visit
  const org = await loadOrganization(db, visitor?.id ?? null, account.login)
  const viewer = viewerOf(visit)
  const page = pageIn(visit.query)
  const slice = { limit: eventsPerPage, offset: (page - 1) * eventsPerPage }
  const everything = { find: '', type: 'all', language: '', sort: 'stars' } as const
  const [popular, members, languages, activity] = await Promise.all([
    listOwned(db, viewer, org, everything, { limit: mostPopular, offset: 0 }),
    listMembers(db, org, 'all', { limit: mostPeople, offset: 0 }),
    listOwnedLanguages(db, viewer, org),
    loadActivity(db, timelines.organization(org), visitor ? viewer : null, slice),
  ])
  const list = activity.events.length
    ? activityList(activity.events)
    : emptyState('pulse', 'Nothing lately', `What happens in repositories of ${org.login} that you can see is shown here.`)
  const cards = popular.rows.length ? repositoryCards(popular.rows) : noRepositories(org)
  const body = html`<main class="organization organization-overview">${banner(visit.flash.done)}${await invitedBanner(visit, org)}<div class="with-side"><div><section><h2>Popular repositories</h2>${cards}</section>
<section><h2>Activity</h2>${list}${pager(`/${org.login}`, {}, page, Math.ceil(activity.total / eventsPerPage))}</section></div>
<aside aria-label="About"><section><h2><a href="/orgs/${org.login}/people">People</a></h2>${faces(members.rows, members.total)}</section>
${languages.length > 0 && html`<section><h2>Languages</h2><p class="facts-line">${languages.slice(0, mostLanguages).map((name) => html`<a href="/orgs/${org.login}/repositories?${new URLSearchParams({ language: name }).toString()}">${languageDot(name)}</a>`)}</p></section>`}</aside></div></main>`
  return { title: org.login, body, above: organizationHeader(org, 'overview'), feed: `/${org.login}.atom` }
}

function noRepositories({ login, role }: Organization): Html {
  const action = role ? buttonLink('New repository', `/new?owner=${login}`, { kind: 'primary' }) : undefined
  return emptyState(
    'repo',
    role ? 'There are no repositories yet' : 'There are no repositories that you can see',
    undefined,
    action,
  )
}

function faces(members: { id: number; login: string }[], total: number): Html {
  if (!members.length) return html`<p class="muted">No member is public.</p>`
  return html`<p class="faces">${members.map(({ id, login }) => html`<a href="/${login}" title="${login}" aria-label="${login}">${avatar({ id }, 32)}</a>`)}</p>${total > members.length && html`<p class="muted">and ${total - members.length} more</p>`}`
}
