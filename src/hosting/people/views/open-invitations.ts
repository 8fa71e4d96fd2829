import { type Invitation, listInvitations } from '#hosting/collaborators/collaborators.ts'
import { listMemberships } from '#hosting/organization-invitations/invitations.ts'
import type { Membership } from '#hosting/organizations/organizations.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { roleOf } from '#identity/access.ts'
import { avatar } from '#web/components/avatar.ts'
import { button } from '#web/components/button.ts'
import { counter } from '#web/components/label.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'

/** Of each kind. The next ones appear when these are answered. */
const most = { limit: 10, offset: 0 }

/** The visitor's open invitations to organizations and repositories, with their answers; `back` is the page that shows them. */
export async function openInvitations(visit: SignedIn, back: string): Promise<Html | undefined> {
  const { db, visitor } = visit
  const [memberships, invitations] = await Promise.all([
    listMemberships(db, visitor, 'pending', most),
    listInvitations(db, { invitee_id: visitor.id }, most),
  ])
  const total = memberships.total + invitations.total
  if (!total) return undefined
  const ids = invitations.rows.map(({ repo_id }) => repo_id)
  const repos = new Map(ids.length ? (await readRepositories(db, visitor.id, ids)).map((repo) => [repo.id, repo]) : [])
  const rows = [
    ...memberships.rows.map((membership) => organizationRow(visit, membership, back)),
    ...invitations.rows.flatMap((invitation) => {
      const repo = repos.get(invitation.repo_id)
      return repo ? [repositoryRow(visit, invitation, repo, back)] : []
    }),
  ]
  return box(rows, {
    header: html`<strong>Invitations ${counter(total)}</strong>`,
    label: 'Invitations',
    kind: 'open-invitations',
  })
}

function organizationRow(visit: SignedIn, { org, role }: Membership, back: string): Html {
  const path = `/orgs/${org.login}/invitation`
  const about = html`<a href="${path}"><strong><bdi>${org.name || org.login}</bdi></strong></a> <span class="muted">invites you to join as ${role === 'admin' ? 'an owner' : 'a member'}</span>`
  return row(avatar(org, 32), about, answers(visit, path, org.login, back))
}

function repositoryRow(visit: SignedIn, { inviter, access, created_at }: Invitation, repo: Repository, back: string): Html {
  const path = `${pathOf(repo)}/invitations`
  const name = `${repo.owner_login}/${repo.name}`
  const about = html`<span class="muted">${inviter.login} invites you to collaborate on</span> <a href="${path}"><strong>${name}</strong></a> <span class="muted">with the role ${roleOf(access)} · ${moment(created_at)}</span>`
  return row(avatar(inviter, 32), about, answers(visit, path, name, back))
}

const row = (image: Html, about: Html, actions: Html) =>
  html`<div class="row-with-actions">${image}<div class="row-main">${about}</div>${actions}</div>`

function answers(visit: SignedIn, action: string, name: string, back: string): Html {
  const choice = (text: string, value: string, kind: 'primary' | 'default') =>
    button(text, { size: 'small', kind, name: 'answer', value, label: `${text} the invitation to ${name}` })
  const fields = html`<input type="hidden" name="return_to" value="${back}">${choice('Accept', 'accept', 'primary')}${choice('Decline', 'decline', 'default')}`
  return form(visit, action, fields, { class: 'buttons' })
}
