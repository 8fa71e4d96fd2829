import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { askFirst, note, settingRow, settingsPage } from '#web/settings.ts'
import { addKey, deleteKey, listKeys, loadKey, type SshKey } from './keys.ts'

const place = '/settings/keys'

export const pages = [
  showOwn(place, (visit) => showKeys(visit)),
  submitOwn(place, confirmed(add)),
  showOwn(`${place}/delete`, askToRemove),
  submitOwn(`${place}/delete`, remove),
]

const idIn = (sent: URLSearchParams) => Number(/^\d{1,15}$/.exec(typed(sent, 'id'))?.[0] ?? 0)

async function askToRemove(visit: SignedIn): Promise<Outcome> {
  const key = await loadKey(visit.db, { user: visit.visitor }, idIn(visit.query))
  return askFirst(visit, {
    path: place,
    title: 'Remove this key?',
    body: html`<section class="card">${describe(key)}</section><p>Programs that ask for your keys no longer see it. You can add it again.</p>`,
    action: `${place}/delete`,
    fields: html`<input type="hidden" name="id" value="${key.id}">`,
    button: 'Remove this key',
  })
}

async function remove(visit: SignedIn): Promise<Outcome> {
  await visit.db.transaction((db) => deleteKey(db, { user: visit.visitor }, visit.visitor, idIn(visit.form)))
  return { to: place, flash: { done: 'The key is removed.' } }
}

function add(visit: SignedIn): Promise<Outcome> {
  const wanted = { title: typed(visit.form, 'title').slice(0, 255), key: typed(visit.form, 'key') }
  const adder = { user: visit.visitor, application_id: null }
  return attempt(
    async () => {
      const { title } = await visit.db.transaction((db) => addKey(db, { user: visit.visitor }, adder, wanted))
      return { to: place, flash: { done: `The key ${title} is added.` } }
    },
    (problem) => showKeys(visit, wanted, problem),
  )
}

/** Limit of keys on the page. */
const most = { limit: 500, offset: 0 }

async function showKeys(visit: SignedIn, typedIn = { title: '', key: '' }, problem?: Problem) {
  const { rows } = await listKeys(visit.db, { user: visit.visitor }, most)
  const list = rows.length
    ? box(rows.map(keyRow), { label: 'Your SSH keys' })
    : emptyState('key', 'There are no keys yet.', 'Add the public key of a computer of yours below.')
  const add = html`${alert(problem)}${field({ label: 'Title', name: 'title', value: typedIn.title })}
<label for="key">Key</label><textarea id="key" name="key" rows="5" required spellcheck="false" autocapitalize="none"
aria-describedby="key-hint">${typedIn.key}</textarea><p class="hint muted" id="key-hint">The line in a file like id_ed25519.pub. Never the private key.</p>
<button class="primary">Add key</button>`
  const body = html`${note(visit.flash.done)}<p><strong>Belfry does not serve SSH.</strong> You cannot clone or push with these keys, nor with the address that the API names <code>ssh_url</code>. Use git over HTTP, with a <a href="/settings/tokens">token</a> as the password; your own password works until you turn on a second factor.</p><p>Belfry stores the public keys that you and your programs add, and shows them to programs that ask for them (<code>GET /users/${visit.visitor.login}/keys</code>).</p>${list}<h2>Add a key</h2>${form(visit, place, add)}`
  return settingsPage(place, 'SSH keys', body, problem?.status)
}

function keyRow(key: SshKey): Html {
  const removal = buttonLink('Remove', `${place}/delete?id=${key.id}`, {
    kind: 'danger',
    size: 'small',
    label: `Remove ${key.title}`,
  })
  return settingRow('key', describe(key), removal)
}

const describe = ({ title, fingerprint, created_at, application_name }: SshKey) =>
  html`<p><strong>${title}</strong></p><p><code>${fingerprint}</code></p><p class="muted">Added ${moment(created_at)}${application_name !== null && html` by the application ${application_name}`}</p>`
