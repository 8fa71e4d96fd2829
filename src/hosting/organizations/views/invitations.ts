import {
  acceptInvitation,
  cancelInvitation,
  endInvitations,
  findPendingMembership,
  listPending,
  type OrganizationInvitation,
} from '#hosting/organization-invitations/invitations.ts'
import { checkOwner, type Organization } from '#hosting/organizations/organizations.ts'
import { missing } from '#platform/errors.ts'
import { avatar } from '#web/components/avatar.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { banner } from '#web/components/toast.ts'
import { typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn, type Visit } from '#web/page.ts'
import { safeReturn } from '#web/return-to.ts'
import { loadVisited } from './organization-header.ts'

const mostShown = 100

const roleText = (role: string) => (role === 'admin' ? 'an owner' : 'a member')

/** For owners: who was invited and has not answered. */
export async function pendingInvitations(visit: Visit, org: Organization): Promise<Html | undefined> {
  const { rows } = await listPending(visit.db, org, 'all', { limit: mostShown, offset: 0 })
  if (!rows.length) return undefined
  const row = (invitation: OrganizationInvitation) => {
    const name = invitation.login ?? invitation.email ?? ''
    const fields = html`<input type="hidden" name="id" value="${invitation.id}">${button('Cancel', { size: 'small', label: `Cancel the invitation of ${name}` })}`
    return html`<div class="row-with-actions"><div class="row-main">${invitation.login ? html`<a href="/${name}"><strong>${name}</strong></a>` : html`<strong>${name}</strong>`} <span class="muted">as ${roleText(invitation.role)}, invited by ${invitation.inviter.login} ${moment(invitation.created_at)}</span></div>${form(visit, `/orgs/${org.login}/people/cancel`, fields, { class: 'inline' })}</div>`
  }
  return box(rows.map(row), { header: html`<strong>Invitations</strong>`, label: 'Invitations' })
}

export async function cancel(visit: SignedIn): Promise<Outcome> {
  const org = await loadVisited(visit)
  checkOwner(org)
  const id = typed(visit.form, 'id')
  if (!/^\d{1,15}$/.test(id)) throw missing()
  await visit.db.transaction((db) => cancelInvitation(db, org, Number(id)))
  return { to: `/orgs/${org.login}/people`, flash: { done: 'The invitation is cancelled.' } }
}

/** Tells a visitor who is invited. */
export async function invitedBanner({ db, visitor }: Visit, org: Organization): Promise<Html | undefined> {
  if (!visitor || org.role) return undefined
  const pending = await findPendingMembership(db, org, visitor, true)
  return (
    pending &&
    banner(html`You are invited to join ${org.login}. <a href="/orgs/${org.login}/invitation">Answer the invitation</a>`)
  )
}

/** Only the invited user finds this page. */
export async function invitationPage(visit: SignedIn): Promise<Outcome> {
  const org = await loadVisited(visit)
  const pending = await findPendingMembership(visit.db, org, visit.visitor, true)
  if (org.role) return { to: `/${org.login}` }
  if (!pending) throw missing()
  const fields = html`<p class="buttons">${button(`Join ${org.login}`, { kind: 'primary', name: 'answer', value: 'accept' })}${button('Decline', { name: 'answer', value: 'decline' })}${buttonLink('Later', `/${org.login}`, { kind: 'invisible' })}</p>`
  const body = html`<main class="narrow invitation">${avatar(org, 96)}<h1>Join ${org.name || org.login}?</h1>
<p>You are invited to <a href="/${org.login}">${org.login}</a> as ${roleText(pending.role)}. Members see its teams and, unless an owner decided otherwise, its private repositories. Owners see that you are a member.</p>
${form(visit, `/orgs/${org.login}/invitation`, fields)}</main>`
  return { title: `Invitation to ${org.login}`, body }
}

/** Returns to the page that had the form, if it says so. */
export async function answerInvitation(visit: SignedIn): Promise<Outcome> {
  const org = await loadVisited(visit)
  const back = visit.form.get('return_to')
  const leadTo = (otherwise: string) => (back === null ? otherwise : safeReturn(back))
  if (visit.form.get('answer') === 'accept') {
    await visit.db.transaction((db) => acceptInvitation(db, org, visit.visitor))
    return { to: leadTo(`/${org.login}`), flash: { done: `You are a member of ${org.login} now.` } }
  }
  const ended = await visit.db.transaction((db) => endInvitations(db, org, visit.visitor))
  if (!ended) throw missing()
  return { to: leadTo('/settings/organizations'), flash: { done: `You declined the invitation to ${org.login}.` } }
}
