import { listOrganizations } from '#hosting/organizations/organizations.ts'
import { missing } from '#platform/errors.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, field, type Problem, typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { askFirst, note, settingRow, settingsPage, shownOnce } from '#web/settings.ts'
import { feedUrls } from './json.ts'
import { createFeedKey, deleteFeedKey, type FeedKey, listFeedKeys, maxKeys } from './keys.ts'

const settingsPath = '/settings/feeds'

export const pages: PageRoute[] = [
  showOwn(settingsPath, (visit) => keysPage(visit)),
  submitOwn(settingsPath, confirmed(makeKey)),
  showOwn(`${settingsPath}/delete`, askToRevoke),
  submitOwn(`${settingsPath}/delete`, async (visit) => {
    const id = typed(visit.form, 'id')
    if (!/^\d{1,15}$/.test(id)) throw missing()
    await visit.db.transaction((db) => deleteFeedKey(db, visit.visitor, Number(id)))
    return { to: settingsPath, flash: { done: 'The key is revoked.' } }
  }),
]

function makeKey(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const { token } = await visit.db.transaction((db) => createFeedKey(db, visit.visitor, typed(visit.form, 'name')))
      return { to: settingsPath, flash: { secret: token } }
    },
    (problem) => keysPage(visit, problem),
  )
}

async function keysPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const { secret: made, done } = visit.flash
  const { rows } = await listFeedKeys(visit.db, visit.visitor, { limit: maxKeys, offset: 0 })
  const list = rows.length
    ? box(rows.map(keyRow))
    : emptyState('rss', 'You have no feed keys yet.', 'Make one for each feed reader.')
  const name = problem ? visit.form.get('name') : ''
  const make = html`${alert(problem)}${field({ label: 'What it is for', name: 'name', value: name, required: true })}
<button class="primary">Make a key</button>`
  const body = html`<p class="muted">A key opens your private feeds in a feed reader, and nothing else. <code>GET /feeds</code> with Basic
authentication returns permanent URLs of your feeds, which cannot be revoked.</p>
${made !== undefined && shownOnce('Your new feeds', await addressesOf(visit, made))}${note(done)}${list}
<h2>New key</h2>${form(visit, settingsPath, make)}`
  return settingsPage(settingsPath, 'Feed keys', body, problem?.status)
}

async function addressesOf({ belfry, db, visitor: user }: SignedIn, token: string): Promise<string> {
  const { rows } = await listOrganizations(db, user, { limit: 1000, offset: 0 }, false)
  const urls = feedUrls({ user, token, organizations: rows }, belfry.addresses.web)
  return [urls.current_user_url, urls.current_user_actor_url, ...urls.current_user_organization_urls].join('\n')
}

const describe = ({
  name,
  last_eight,
  created_at,
  last_used_at,
}: FeedKey) => html`<p><strong>${name}</strong> <code>…${last_eight}</code></p>
<p class="muted">Made ${moment(created_at)} · ${last_used_at ? html`last used ${moment(last_used_at)}` : 'never used'}</p>`

const keyRow = (key: FeedKey) =>
  settingRow(
    'rss',
    describe(key),
    html`<a class="button danger" href="${settingsPath}/delete?id=${key.id}" aria-label="Revoke ${key.name}">Revoke</a>`,
  )

async function askToRevoke(visit: SignedIn): Promise<Outcome> {
  const { rows } = await listFeedKeys(visit.db, visit.visitor, { limit: maxKeys, offset: 0 })
  const key = rows.find(({ id }) => String(id) === visit.query.get('id'))
  if (!key) throw missing()
  const fields = html`<input type="hidden" name="id" value="${key.id}">`
  const body = html`<section class="card">${describe(key)}</section>
<p>Feed readers that use the key lose access at once. You cannot restore a revoked key.</p>`
  return askFirst(visit, {
    path: settingsPath,
    title: 'Revoke this key?',
    body,
    action: `${settingsPath}/delete`,
    fields,
    button: 'Revoke this key',
  })
}
