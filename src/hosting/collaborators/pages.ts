import { nameOf } from '#hosting/issues/views/conversation.ts'
import { readRepositories } from '#hosting/repositories/repositories.ts'
import { loadVisibleRepository, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { roleOf } from '#identity/access.ts'
import { markSubjectRead } from '#parts/notifications/inbox-actions.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { moment } from '#web/components/time.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { safeReturn } from '#web/return-to.ts'
import { acceptInvitation, declineInvitation, listInvitations } from './collaborators.ts'

const place = '/:owner/:repo/invitations'

export const pages: PageRoute[] = [showOwn(place, invitationPage), submitOwn(place, answer)]

/** An invited user may not see the repository yet, so it is looked up through their invitations. */
async function findInvitation({ db, visitor, params }: SignedIn) {
  const { rows } = await listInvitations(db, { invitee_id: visitor.id }, { limit: 100, offset: 0 })
  const repos = await readRepositories(
    db,
    visitor.id,
    rows.map(({ repo_id }) => repo_id),
  )
  const repo = repos.find((one) => pathOf(one).toLowerCase() === `/${params.owner}/${params.repo}`.toLowerCase())
  const invitation = rows.find(({ repo_id }) => repo_id === repo?.id)
  return repo && invitation && { repo, invitation }
}

/** The notification of an invitation. */
const subjectOf = ({ id }: { id: number }) => sql`s.type = 'RepositoryInvitation' and s.repo_id = ${id}`

/** An accepted invitation redirects to the repository. */
async function invitationPage(visit: SignedIn): Promise<Outcome> {
  const found = await findInvitation(visit)
  const repo = found?.repo ?? (await loadVisibleRepository(visit))
  await markShown(visit, subjectOf(repo))
  if (!found) return { to: pathOf(repo) }
  const { inviter, access, created_at } = found.invitation
  const buttons = html`<div class="decision"><button class="primary" name="answer" value="accept">Accept</button> <button name="answer" value="decline">Decline</button></div>`
  const body = html`<main class="conversation"><h1>Invitation to ${repo.owner_login}/${repo.name}</h1>
<p>${nameOf(inviter)} invites you to collaborate, with the role <strong>${roleOf(access)}</strong>. <span class="muted">${moment(created_at)}</span></p>
<p>${repo.description}</p>${form(visit, `${pathOf(repo)}/invitations`, buttons)}</main>`
  return { title: `Invitation to ${repo.owner_login}/${repo.name}`, body }
}

/** Returns to the page that had the form, if it says so. */
async function answer(visit: SignedIn): Promise<Outcome> {
  const found = await findInvitation(visit)
  if (!found) throw missing()
  const { repo, invitation } = found
  const accepted = visit.form.get('answer') === 'accept'
  const verb = accepted ? acceptInvitation : declineInvitation
  await visit.db.transaction((db) => verb(db, visit.visitor, invitation.id))
  if (accepted) await markSubjectRead(visit.db, visit.visitor, subjectOf(repo))
  const back = visit.form.get('return_to')
  const name = `${repo.owner_login}/${repo.name}`
  const done = accepted ? `You are a collaborator of ${name} now.` : `You declined the invitation to ${name}.`
  return { to: back !== null ? safeReturn(back) : accepted ? pathOf(repo) : '/notifications', flash: { done } }
}
