import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { loadAdministered, repositorySettings } from '#hosting/repositories/views/settings-page.ts'
import { button } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { askMenu } from '#web/components/menu.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, choice, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { addKey, deleteKey, listKeys, type SshKey } from './keys.ts'

const place = '/:owner/:repo/settings/keys'

export const pages: PageRoute[] = [
  showOwn(place, (visit) => list(visit)),
  submitOwn(place, confirmed(add)),
  submitOwn(`${place}/delete`, remove),
]

/** Limit of keys on the page. */
const most = { limit: 500, offset: 0 }

async function list(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const repo = await loadAdministered(visit)
  const { rows } = await listKeys(visit.db, { repo }, most)
  const value = (name: string) => (problem ? visit.form.get(name) : '')
  const inputs = html`${alert(problem)}${field({ label: 'Title', name: 'title', value: value('title'), longest: 255 })}
<label for="key">Key</label><textarea id="key" name="key" rows="4" required spellcheck="false" autocapitalize="none" aria-describedby="key-hint">${value('key')}</textarea>
<p class="hint muted" id="key-hint">The line in a file like id_ed25519.pub. Never the private key.</p>
${choice({ name: 'write', value: 'on' }, 'It may also push')}${button('Add key', { kind: 'primary' })}`
  const body = html`<p><strong>Belfry does not serve SSH.</strong> Machines cannot clone or push with these keys; use git over HTTP with a token.</p><p>Belfry stores the public keys that machines use for this repository, and shows them to programs that ask for them.</p>
${rows.length ? box(rows.map((row) => keyRow(visit, repo, row))) : emptyState('key', 'There are no deploy keys')}
<h2>Add a key</h2>${form(visit, `${pathOf(repo)}/settings/keys`, inputs)}`
  return repositorySettings(visit, repo, '/keys', 'Deploy keys', body, problem?.status)
}

function keyRow(visit: SignedIn, repo: Repository, { id, title, fingerprint, read_only, created_at }: SshKey): Html {
  const removal = askMenu(
    html`<span class="button small danger">Remove</span>`,
    html`Remove <strong>${title}</strong>? Programs that ask for the keys of this repository no longer see it.`,
    form(
      visit,
      `${pathOf(repo)}/settings/keys/delete`,
      html`<input type="hidden" name="id" value="${id}">${button('Remove this key', { kind: 'danger' })}`,
      { class: '' },
    ),
    { label: `Remove ${title}` },
  )
  return html`<div class="title-line">${icon('key')} <strong>${title}</strong> ${badge(read_only ? 'read only' : 'read and write')}<span class="space"></span>${removal}</div>
<p class="muted"><code>${fingerprint}</code> · added ${moment(created_at)}</p>`
}

function add(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const repo = await loadAdministered(visit)
      const wanted = {
        title: typed(visit.form, 'title').slice(0, 255),
        key: typed(visit.form, 'key'),
        read_only: !visit.form.has('write'),
      }
      await visit.db.transaction((db) => addKey(db, { repo }, { user: visit.visitor, application_id: null }, wanted))
      return { to: `${pathOf(repo)}/settings/keys`, flash: { done: 'The key is added.' } }
    },
    (problem) => list(visit, problem),
  )
}

async function remove(visit: SignedIn): Promise<Outcome> {
  const repo = await loadAdministered(visit)
  const id = Number(/^\d{1,15}$/.exec(typed(visit.form, 'id'))?.[0] ?? 0)
  await visit.db.transaction((db) => deleteKey(db, { repo }, visit.visitor, id))
  return { to: `${pathOf(repo)}/settings/keys`, flash: { done: 'The key is removed.' } }
}
