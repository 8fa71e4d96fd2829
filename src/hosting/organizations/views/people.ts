import { invite } from '#hosting/organization-invitations/invitations.ts'
import {
  checkMember,
  checkOwner,
  listMembers,
  type Member,
  type Organization,
  type OrganizationRole,
  removeMembership,
  setMembership,
  setMembershipPublic,
} from '#hosting/organizations/organizations.ts'
import { peopleList, personRow } from '#hosting/people/views/people-list.ts'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { loadUser } from '#identity/accounts.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { button } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { askMenu, menu } from '#web/components/menu.ts'
import { pager } from '#web/components/pager.ts'
import { banner } from '#web/components/toast.ts'
import { alert, attempt, field, type Problem, select, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn, type Visit } from '#web/page.ts'
import { pendingInvitations } from './invitations.ts'
import { loadVisited, organizationHeader } from './organization-header.ts'

const perPage = 50

export async function peoplePage(visit: Visit, problem?: Problem): Promise<Outcome> {
  const org = await loadVisited(visit)
  const find = typed(visit.query, 'q').slice(0, 100)
  const page = pageIn(visit.query)
  const { rows, total } = await listMembers(visit.db, org, 'all', { limit: perPage, offset: (page - 1) * perPage }, find)
  const path = pathOf(org)
  const list = rows.length
    ? peopleList(rows.map((member) => personRow(member, { more: marks(org, member), actions: actions(visit, org, member) })))
    : emptyState(
        'people',
        find ? 'Nobody matches' : 'No member is public',
        find
          ? `No member of ${org.login} that you can see is called ${find}.`
          : `Members of ${org.login} decide whether everyone sees their membership.`,
      )
  const body = html`<main class="organization"><h1 class="unseen">People of ${org.login}</h1>${banner(visit.flash.done)}
<div class="filter-bar"><form method="get" action="${path}" role="search"><input type="search" name="q" value="${find}" placeholder="Find a member" aria-label="Find a member" maxlength="100"></form></div>
${org.role === 'admin' && html`${addForm(visit, org, problem)}${await pendingInvitations(visit, org)}`}${list}${pager(path, { ...(find && { q: find }) }, page, Math.ceil(total / perPage))}</main>`
  return {
    title: `People · ${org.login}`,
    body,
    above: organizationHeader(org, 'people'),
    ...(problem && { status: problem.status }),
  }
}

const pathOf = ({ login }: Organization) => `/orgs/${login}/people`

/** Only members see who owns the organization. */
function marks({ role }: Organization, member: Member): Html | undefined {
  if (!role) return undefined
  return html`<p class="facts-line">${member.role === 'admin' ? badge('Owner', 'accent') : html`<span>Member</span>`}<span>${member.public ? 'Public' : 'Private'}</span></p>`
}

function addForm(visit: Visit, org: Organization, problem?: Problem): Html {
  const chosen = visit.form.get('role') === 'admin' ? 'admin' : 'member'
  const roles: [string, string][] = [
    ['member', 'Member'],
    ['admin', 'Owner'],
  ]
  const fields = html`<div class="in-line"><div>${field({ label: 'Login', name: 'login', value: visit.form.get('login'), required: true, longest: 39 })}</div><div>${select('Role', 'role', roles, chosen)}</div>${button('Invite', { kind: 'primary', name: 'how', value: 'invite' })}${button('Add without asking', { name: 'how', value: 'add' })}</div>
<p class="hint muted">Who is invited finds the invitation on the page of ${org.login} and in their settings, and answers within seven days.</p>`
  return html`<details class="add"${problem && html` open`}><summary class="button">${icon('person-add')} Add a member</summary><div class="card">${alert(problem)}${form(visit, pathOf(org), fields)}</div></details>`
}

function actions(visit: Visit, org: Organization, member: Member): Html | undefined {
  const mine = visit.visitor?.id === member.id
  if (!mine && org.role !== 'admin') return undefined
  const hidden = html`<input type="hidden" name="login" value="${member.login}">`
  const item = (address: string, text: string, fields: Html) => ({
    markup: form(visit, `${pathOf(org)}${address}`, html`${hidden}${fields}<button>${text}</button>`, { class: '' }),
  })
  const other: OrganizationRole = member.role === 'admin' ? 'member' : 'admin'
  const items = [
    ...(org.role === 'admin'
      ? [
          item(
            '',
            `Make ${other === 'admin' ? 'an owner' : 'a member'}`,
            html`<input type="hidden" name="role" value="${other}">`,
          ),
        ]
      : []),
    ...(mine
      ? [
          item(
            '/visibility',
            member.public ? 'Make my membership private' : 'Make my membership public',
            html`<input type="hidden" name="public" value="${member.public ? 'no' : 'yes'}">`,
          ),
        ]
      : []),
  ]
  const question = mine
    ? `Leave ${org.login}? You lose access to its private repositories and leave its teams.`
    : `Remove ${member.login} from ${org.login}? They lose access to its private repositories and leave its teams.`
  const answer = form(visit, `${pathOf(org)}/remove`, html`${hidden}${button(mine ? 'Leave' : 'Remove', { kind: 'danger' })}`, {
    class: '',
  })
  return html`${menu(html`<span class="button small">${icon('kebab-horizontal')}</span>`, items, { label: `Change ${member.login}` })}
${askMenu(html`<span class="button small danger">${mine ? 'Leave' : 'Remove'}</span>`, question, answer, { label: `${mine ? 'Leave' : 'Remove'} ${member.login}` })}`
}

/** Invites a user, adds them at once, or changes the role of a member. */
export async function addMember(visit: SignedIn): Promise<Outcome> {
  const org = await loadVisited(visit)
  checkOwner(org)
  return attempt(
    async () => {
      const user = await loadNamed(visit)
      const role = visit.form.get('role') === 'admin' ? 'admin' : 'member'
      if (visit.form.get('how') === 'invite') {
        await visit.db.transaction((db) => invite(db, visit.visitor, org, { invitee_id: user.id, role, team_ids: [] }))
        return { to: pathOf(org), flash: { done: `${user.login} is invited.` } }
      }
      await visit.db.transaction((db) => setMembership(db, visit.visitor, org, user, role))
      const done = `${user.login} is ${role === 'admin' ? 'an owner' : 'a member'} of ${org.login} now.`
      return { to: pathOf(org), flash: { done } }
    },
    (problem) => peoplePage(visit, problem),
  )
}

/** The user whom a form names. */
export async function loadNamed({ db, form: sent }: SignedIn) {
  const login = typed(sent, 'login')
  return loadUser(db, login).catch((error) => {
    if (!(error instanceof Refusal)) throw error
    throw invalid({
      resource: 'Membership',
      code: 'invalid',
      field: 'login',
      message: `there is no user called ${login || '(empty)'}`,
    })
  })
}

export async function removeMember(visit: SignedIn): Promise<Outcome> {
  const org = await loadVisited(visit)
  const user = await loadUser(visit.db, typed(visit.form, 'login'))
  if (user.id === visit.visitor.id) checkMember(org)
  else checkOwner(org)
  return attempt(
    async () => {
      await visit.db.transaction((db) => removeMembership(db, visit.visitor, org, user))
      const mine = user.id === visit.visitor.id
      return {
        to: mine ? `/${org.login}` : pathOf(org),
        flash: { done: mine ? `You left ${org.login}.` : `${user.login} is removed.` },
      }
    },
    (problem) => peoplePage(visit, problem),
  )
}

export async function changeVisibility(visit: SignedIn): Promise<Outcome> {
  const org = await loadVisited(visit)
  checkMember(org)
  const shown = visit.form.get('public') === 'yes'
  await visit.db.transaction((db) => setMembershipPublic(db, org, visit.visitor, shown))
  return {
    to: pathOf(org),
    flash: { done: shown ? 'Everyone sees that you are a member.' : 'Only members see that you are one.' },
  }
}
