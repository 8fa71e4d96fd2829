import { nameOf } from '#hosting/issues/views/conversation.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess, roleOf } from '#identity/access.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { moment } from '#web/components/time.ts'
import { confirmedIf } from '#web/confirm-password.ts'
import { alert, attempt, choice, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { type Attached, listAttached } from './attached.ts'
import {
  type Accepted,
  acceptTransfer,
  cancelTransfer,
  declineTransfer,
  findTransferOf,
  listOffered,
  type Transfer,
  transferRepository,
} from './transfers.ts'

const place = '/:owner/:repo/transfer'

export const pages: PageRoute[] = [
  showOwn(place, (visit) => transferPage(visit)),
  submitOwn(place, confirmedIf(givesAway, submit)),
]

/** A receiver may not be able to see the repository yet, so it is found among their offers. */
async function findOffer({ db, visitor, params }: SignedIn) {
  const { rows } = await listOffered(db, visitor, { limit: 100, offset: 0 })
  const repos = await readRepositories(
    db,
    visitor.id,
    rows.map(({ repo_id }) => repo_id),
  )
  const repo = repos.find((one) => pathOf(one).toLowerCase() === `/${params.owner}/${params.repo}`.toLowerCase())
  const transfer = rows.find(({ repo_id }) => repo_id === repo?.id)
  return repo && transfer && { repo, transfer }
}

interface Refused {
  problem: Problem
  form: URLSearchParams
}

/** One address for both sides: the receiver answers the offer here, and an admin of the repository makes or cancels it. */
async function transferPage(visit: SignedIn, refused?: Refused): Promise<Outcome> {
  const found = await findOffer(visit)
  if (found) return answerPage(visit, found.repo, found.transfer, refused)
  const repo = await loadAdministered(visit)
  const transfer = await findTransferOf(visit.db, repo)
  const body = transfer ? pending(visit, repo, transfer) : offerForm(visit, repo, refused)
  const shown = page(`Transfer ${repo.owner_login}/${repo.name}`, html`<h1>Transfer this repository</h1>${body}`, refused)
  return { ...shown, above: repositoryHeader(repo, 'settings') }
}

async function loadAdministered(visit: SignedIn): Promise<Repository> {
  const repo = await loadVisibleRepository(visit)
  checkAccess(repo.access, 'admin')
  return repo
}

function page(title: string, body: Html, refused?: Refused) {
  const status = refused?.problem.status ?? 200
  return { title, status, body: html`<main class="conversation">${body}</main>` }
}

async function answerPage(visit: SignedIn, repo: Repository, transfer: Transfer, refused?: Refused): Promise<Outcome> {
  await markShown(visit, sql`s.transfer_id = ${transfer.id}`)
  const attached = await listAttached(visit.db, repo)
  const { requester, receiver, created_at, expires_at } = transfer
  const whose = receiver.id === visit.visitor.id ? 'you' : receiver.login
  const asked = (name: string) => refused?.form.get(name) === 'yes'
  const fields = html`${alert(refused?.problem)}${field({
    label: 'Name',
    name: 'new_name',
    value: refused ? typed(refused.form, 'new_name') : (transfer.new_name ?? repo.name),
    longest: 100,
    hint: `It becomes ${receiver.login}/name. Choose another name if this one is taken.`,
  })}
${choice({ name: 'keep_former_owner', value: 'yes', chosen: asked('keep_former_owner') }, `Let ${repo.owner_login} go on pushing`)}
${attached.collaborators.length > 0 && choice({ name: 'keep_collaborators', value: 'yes', chosen: asked('keep_collaborators') }, html`<span>Keep the collaborators ${people(attached.collaborators)}</span>`)}
<p class="buttons"><button class="primary" name="answer" value="accept">Accept</button> <button name="answer" value="decline">Decline</button></p>`
  const title = `Transfer of ${repo.owner_login}/${repo.name}`
  return page(
    title,
    html`<h1>${title}</h1><p>${nameOf(requester)} offers this repository to ${whose}. <span class="muted">${moment(created_at)}, open until ${moment(expires_at)}</span></p>
<p>${repo.private && html`<span class="badge">private</span> `}${repo.description}</p>
<p>If you accept, it belongs to ${whose}, with its issues, pull requests and releases. Its present owner loses access${attached.collaborators.length > 0 && ', and so do its collaborators'} unless you say otherwise.</p>
${removals(attached, 'These are removed when you accept')}${form(visit, `${pathOf(repo)}/transfer`, fields)}`,
    refused,
  )
}

const people = (list: Attached['collaborators']) =>
  html`${list.map(({ login, access }, index) => html`${index > 0 && ', '}<strong>${login}</strong> (${roleOf(access)})`)}`

/** Webhooks, keys and open invitations, if there are any. */
function removals({ webhooks, deploy_keys, invitations }: Attached, title: string): Html | undefined {
  const items = [
    ...webhooks.map(({ host }) => html`<li>Webhook to ${host}</li>`),
    ...deploy_keys.map((key) => html`<li>Deploy key “${key.title}”${key.read_only && ' (read only)'}</li>`),
    ...invitations.map(({ login }) => html`<li>Open invitation of ${login}</li>`),
  ]
  return items.length
    ? html`<section aria-label="${title}"><h2 class="small">${title}</h2><ul>${items}</ul></section>`
    : undefined
}

function pending(visit: SignedIn, repo: Repository, { receiver, new_name, created_at, expires_at }: Transfer): Html {
  const buttons = html`<p class="buttons"><button class="danger" name="answer" value="cancel">Cancel the transfer</button></p>`
  return html`<p>It is offered to ${nameOf(receiver)}${new_name !== null && html` as <strong>${new_name}</strong>`}, and stays here until they accept.
<span class="muted">${moment(created_at)}, open until ${moment(expires_at)}</span></p>${form(visit, `${pathOf(repo)}/transfer`, buttons)}`
}

function offerForm(visit: SignedIn, repo: Repository, refused?: Refused): Html {
  const sent = (name: string) => (refused ? typed(refused.form, name) : '')
  const fields = html`${alert(refused?.problem)}${field({ label: 'New owner', name: 'new_owner', value: sent('new_owner'), required: true, longest: 100, hint: 'A user or an organization.' })}
${field({ label: 'New name', name: 'new_name', value: sent('new_name'), longest: 100, hint: 'Leave it empty to keep the name.' })}
<p class="buttons"><button class="danger" name="answer" value="offer">Transfer</button></p>`
  return html`<p>It moves at once to an organization you are a member of. Anyone else has to accept it first, and decides whether you keep access; its webhooks and deploy keys are removed then.</p>
${form(visit, `${pathOf(repo)}/transfer`, fields)}`
}

function givesAway({ form: sent }: SignedIn) {
  return sent.get('answer') === 'offer' || sent.get('answer') === 'accept'
}

async function submit(visit: SignedIn): Promise<Outcome> {
  const act = acts[visit.form.get('answer') ?? '']
  if (!act) throw missing()
  return attempt(
    () => act(visit),
    (problem) => transferPage(visit, { problem, form: visit.form }),
  )
}

const acts: Record<string, (visit: SignedIn) => Promise<Outcome>> = {
  async accept(visit) {
    const { transfer } = await loadOffer(visit)
    const wanted = {
      new_name: typed(visit.form, 'new_name') || undefined,
      keep_former_owner: visit.form.get('keep_former_owner') === 'yes',
      keep_collaborators: visit.form.get('keep_collaborators') === 'yes',
    }
    return acceptedPage(await visit.db.transaction((db) => acceptTransfer(db, visit.visitor, transfer.id, wanted)))
  },
  async decline(visit) {
    const { transfer } = await loadOffer(visit)
    await visit.db.transaction((db) => declineTransfer(db, visit.visitor, transfer.id))
    return { to: '/notifications' }
  },
  async offer(visit) {
    const repo = await loadAdministered(visit)
    const wanted = { new_owner: typed(visit.form, 'new_owner'), new_name: typed(visit.form, 'new_name') || undefined }
    const given = await visit.db.transaction((db) => transferRepository(db, viewerOf(visit), visit.visitor, repo, wanted))
    return { to: given.owner_id === repo.owner_id ? `${pathOf(repo)}/transfer` : pathOf(given) }
  },
  async cancel(visit) {
    const repo = await loadAdministered(visit)
    await visit.db.transaction((db) => cancelTransfer(db, repo))
    return { to: `${pathOf(repo)}/transfer` }
  },
}

async function loadOffer(visit: SignedIn) {
  const found = await findOffer(visit)
  if (!found) throw missing()
  return found
}

function acceptedPage({ repo, dropped }: Accepted): Outcome {
  const title = `${repo.owner_login}/${repo.name}`
  const gone = dropped.collaborators.length > 0 && html`<p>No longer collaborators: ${people(dropped.collaborators)}</p>`
  return page(
    `Accepted ${title}`,
    html`<h1>Transfer accepted</h1><p>The repository is <a href="${pathOf(repo)}">${title}</a> now. Its former address leads there.</p>
${removals(dropped, 'Removed')}${gone}`,
  )
}
