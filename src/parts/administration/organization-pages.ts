import { administerOrganization, organizationActs } from '#hosting/administration/organization-acts.ts'
import { listMembers } from '#hosting/organizations/organizations.ts'
import { loadAccount } from '#identity/accounts.ts'
import { missing } from '#platform/errors.ts'
import { person } from '#web/components/avatar.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { badge } from '#web/components/label.ts'
import { pager } from '#web/components/pager.ts'
import { table } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, type Problem, typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { listAccounts } from './accounts.ts'
import { onlyAdmins, perPage, wordsIn } from './site-admin.ts'
import { actButton, controlRow, controls, marks, renameAndDelete } from './views/account-controls.ts'
import { adminPage } from './views/frame.ts'

const place = '/site-admin/organizations'

export const organizationRoutes: PageRoute[] = [
  showOwn(place, onlyAdmins(list)),
  showOwn(
    `${place}/:login`,
    onlyAdmins((visit) => organizationPage(visit)),
  ),
  submitOwn(`${place}/:login`, onlyAdmins(confirmed(act))),
]

async function list(visit: SignedIn): Promise<Outcome> {
  const { words, page, slice, find } = wordsIn(visit, place, 'Find by login or name')
  const { rows, total } = await listAccounts(visit.db, 'Organization', words, 'all', slice)
  const lines = rows.map((org) => [
    html`${person(org, 24)} ${org.name ?? ''} ${marks(org)}`,
    org.members,
    org.repositories,
    moment(org.created_at),
    buttonLink('Manage', `${place}/${org.login}`, { size: 'small', label: `Manage ${org.login}` }),
  ])
  const heading = ['Organization', 'Members', 'Repositories', 'Since', html`<span class="unseen">Actions</span>`]
  const found = rows.length
    ? table(heading, lines, { label: 'Organizations' })
    : emptyState('organization', 'No organization is found')
  const body = html`${find}${found}${pager(place, { ...(words && { q: words }) }, page, Math.ceil(total / perPage))}`
  return adminPage(visit, place, 'Organizations', body)
}

const mostMembers = 100

async function organizationPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const org = await loadNamed(visit)
  const path = `${place}/${org.login}`
  const { rows, total } = await listMembers(visit.db, { ...org, role: 'admin' }, 'all', { limit: mostMembers, offset: 0 })
  const members = rows.map((member) => [
    html`${person(member, 24)} ${member.name ?? ''}`,
    member.role === 'admin' ? badge('Owner', 'accent') : 'Member',
  ])
  const suspension = org.suspended_at
    ? controlRow(
        'Suspension',
        'It and its repositories are read-only.',
        actButton(visit, path, 'unsuspend', 'End the suspension'),
      )
    : controlRow(
        'Suspension',
        'While suspended, it and its repositories are read-only.',
        actButton(visit, path, 'suspend', 'Suspend', true),
      )
  const body = html`${alert(problem)}<p>${person(org, 32)} ${org.name} ${marks(org)}</p><p class="muted">since ${moment(org.created_at)}</p>
${controls(suspension, renameAndDelete(visit, path, org.login, 'the organization with all its repositories'))}
<h2>Members</h2>${members.length ? table(['Person', 'Role'], members, { label: 'Members' }) : emptyState('people', 'It has no members')}
${total > rows.length && html`<p class="muted">and ${total - rows.length} more, see <a href="/orgs/${org.login}/people">its people</a></p>`}`
  return adminPage(visit, place, org.login, body, problem?.status)
}

function act(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const org = await loadNamed(visit)
      const wanted = organizationActs.find((one) => one === visit.form.get('act'))
      if (!wanted) throw missing()
      const login = await administerOrganization(visit.db, visit.visitor, org, wanted, {
        new_login: typed(visit.form, 'new_login'),
        confirm: typed(visit.form, 'confirm'),
      })
      return login === null
        ? { to: place, flash: { done: `${org.login} is deleted.` } }
        : { to: `${place}/${login}`, flash: { done: 'Done.' } }
    },
    (problem) => organizationPage(visit, problem),
  )
}

async function loadNamed({ db, params }: SignedIn) {
  const org = await loadAccount(db, params.login ?? '')
  if (org.type !== 'Organization') throw missing()
  return org
}
