import { listOrganizations } from '#hosting/organizations/organizations.ts'
import { listRepositories } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { isPermission, metadataIncludes, type Over, type Permissions, permissionNames } from '#identity/permissions.ts'
import { isServed, scopeTree } from '#identity/scopes.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, choice, field, type Problem, select, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { askFirst, note, settingRow, settingsPage, shownOnce } from '#web/settings.ts'
import {
  createClassicToken,
  createFineGrainedToken,
  deletePersonalToken,
  listPersonalTokens,
  offeredPermissions,
  type PersonalToken,
  type Wanted,
} from './personal-tokens.ts'

const classic = '/settings/tokens'
const fineGrained = '/settings/tokens/fine-grained'

export const pages: PageRoute[] = [
  showOwn(classic, (visit) => classicPage(visit)),
  submitOwn(classic, confirmed(makeClassic)),
  showOwn(`${classic}/delete`, (visit) => askToDelete(visit, 'classic', classic)),
  submitOwn(`${classic}/delete`, (visit) => remove(visit, classic)),
  showOwn(fineGrained, (visit) => fineGrainedPage(visit)),
  submitOwn(fineGrained, confirmed(makeFineGrained)),
  showOwn(`${fineGrained}/delete`, (visit) => askToDelete(visit, 'fine_grained', fineGrained)),
  submitOwn(`${fineGrained}/delete`, (visit) => remove(visit, fineGrained)),
]

/** The result of the previous form. */
const say = ({ flash: { secret, done } }: SignedIn) =>
  html`${secret !== undefined && shownOnce('Your new token', secret)}${note(done)}`

async function classicPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const { form: given, visitor } = visit
  const kept = problem ? given : new URLSearchParams()
  const tokens = await listPersonalTokens(visit.db, visitor, 'classic')
  const offered = scopeTree.filter(({ name }) => isServed(name) && (name !== 'site_admin' || visitor.site_admin))
  const scopes = offered.map(({ name, depth }) => {
    const chosen = kept.getAll('scopes').includes(name)
    return html`<div class="depth-${depth}">${choice({ name: 'scopes', value: name, chosen }, html`<code>${name}</code>`)}</div>`
  })
  const fields = html`${alert(problem)}${common(kept)}
<fieldset><legend>Scopes</legend><p class="hint muted">A scope holds those that stand below it. Without any, the token reads what is public.</p>
<div class="columns">${scopes}</div></fieldset><button class="primary">Make a token</button>`
  const body = html`<p class="muted">Programs that send one of these tokens act as you, within the scopes of the token.</p>${say(visit)}
${cards(visit, classic, tokens)}<h2>New token</h2>${form(visit, classic, fields)}`
  return settingsPage(classic, 'Personal tokens', body, problem?.status)
}

function makeClassic(visit: SignedIn): Promise<Outcome> {
  const wanted = { ...wantedOf(visit), scopes: visit.form.getAll('scopes') }
  return attempt(
    async () => {
      const secret = await visit.db.transaction((db) => createClassicToken(db, visit.visitor, wanted))
      return { to: classic, flash: { secret } }
    },
    (problem) => classicPage(visit, problem),
  )
}

async function fineGrainedPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const kept = problem ? visit.form : new URLSearchParams()
  const tokens = await listPersonalTokens(visit.db, visit.visitor, 'fine_grained')
  const owners = await listOwners(visit)
  const owner = ownerOf(visit, owners)
  const fields = html`${alert(problem)}<input type="hidden" name="owner" value="${owner.login}">${common(kept)}
${await repositoryChoice(visit, owner, kept)}${offeredPermissions(owner).map((over) => permissionChoice(over, owner, kept))}
<button class="primary">Make a token for ${owner.login}</button>`
  const body = html`<p class="muted">A fine-grained token has access to the repositories and permissions that you choose.</p>${say(visit)}
${cards(visit, fineGrained, tokens)}<h2 id="new">New token</h2>${ownerChoice(owner, owners)}${form(visit, fineGrained, fields)}`
  return settingsPage(fineGrained, 'Fine-grained tokens', body, problem?.status)
}

/** The possible resource owners of a token: the user and their organizations. */
async function listOwners({ db, visitor }: SignedIn): Promise<Account[]> {
  const { rows } = await listOrganizations(db, visitor, { limit: 1000, offset: 0 }, false)
  return [visitor, ...rows]
}

/** The resource owner in the form or the address; 404 if it is not one of `owners`. */
function ownerOf({ form: given, query, visitor }: SignedIn, owners: Account[]): Account {
  const named = (given.get('owner') ?? query.get('owner') ?? visitor.login).toLowerCase()
  const owner = owners.find(({ login }) => login.toLowerCase() === named)
  if (!owner) throw missing()
  return owner
}

/** A separate form, because the available repositories and permissions depend on it. */
function ownerChoice(owner: Account, owners: Account[]): Html {
  const options = owners.map(({ login, type }): [string, string] => [
    login,
    type === 'Organization' ? `${login} (organization)` : login,
  ])
  return html`<form method="get" action="${fineGrained}#new" class="form">${select('Resource owner', 'owner', options, owner.login)}
<p class="hint muted">The token reaches repositories of this account only.</p><button>Change owner</button></form>`
}

const permissionTitles: Record<Over, (owner: Account) => string> = {
  repository: () => 'Permissions on repositories',
  organization: ({ login }) => `Permissions on the organization ${login}`,
  account: () => 'Permissions on your account',
}

function permissionChoice(over: Over, owner: Account, kept: URLSearchParams): Html {
  const hint = over === 'repository' && html`<p class="hint muted">Reading metadata is always among them. ${metadataIncludes}</p>`
  return html`<fieldset><legend>${permissionTitles[over](owner)}</legend>${hint}${levels(over, kept)}</fieldset>`
}

async function repositoryChoice({ db, visitor }: SignedIn, owner: Account, kept: URLSearchParams): Promise<Html> {
  const own = sql`r.owner_id = ${owner.id}`
  const viewer = { viewer_id: visitor.id, sees_private: true }
  const { rows } = await listRepositories(db, viewer, own, sql`lower(r.name)`, { limit: 1000, offset: 0 })
  const some = kept.get('reach') === 'some'
  const boxes = rows.map(({ id, name, private: hidden }) =>
    choice(
      { name: 'repositories', value: String(id), chosen: kept.getAll('repositories').includes(String(id)) },
      html`${name}${hidden && html` <span class="muted">private</span>`}`,
    ),
  )
  return html`<fieldset><legend>Repositories</legend>
${choice({ name: 'reach', value: 'all', type: 'radio', chosen: !some }, `All of ${owner.login}, also those that come later`)}
${choice({ name: 'reach', value: 'some', type: 'radio', chosen: some }, 'Only these:')}
<div class="scroll" tabindex="0" role="group" aria-label="Repositories to choose from">${boxes.length ? boxes : html`<p class="muted">There are none yet.</p>`}</div></fieldset>`
}

function levels(over: Over, kept: URLSearchParams): Html {
  const names = permissionNames[over].filter((name) => name !== 'metadata')
  const options: [string, string][] = [
    ['', 'No access'],
    ['read', 'Read'],
    ['write', 'Read and write'],
  ]
  const selects = names.map((name) => {
    const key = `permission:${name}`
    return html`<div>${select(permissionLabel(name), key, options, kept.get(key) ?? '')}</div>`
  })
  return html`<div class="levels">${selects}</div>`
}

/** The group's title already says what a permission applies to. */
const permissionLabel = (name: string) =>
  name
    .replace(/^organization_hooks$/, 'webhooks')
    .replace(/^organization_/, '')
    .replaceAll('_', ' ')

async function makeFineGrained(visit: SignedIn): Promise<Outcome> {
  const owner = ownerOf(visit, await listOwners(visit))
  const ids = visit.form.getAll('repositories').filter((id) => /^\d{1,15}$/.test(id))
  const repositories = visit.form.get('reach') === 'some' ? ids.map(Number) : null
  const wanted = { ...wantedOf(visit), owner, permissions: permissionsOf(visit.form), repositories }
  return attempt(
    async () => {
      const secret = await visit.db.transaction((db) => createFineGrainedToken(db, visit.visitor, wanted))
      return { to: fineGrained, flash: { secret } }
    },
    (problem) => fineGrainedPage(visit, problem),
  )
}

function permissionsOf(given: URLSearchParams): Permissions {
  const permissions: Permissions = { metadata: 'read' }
  for (const [key, level] of given) {
    const name = key.replace(/^permission:/, '')
    if (key !== name && name !== 'metadata' && isPermission(name) && (level === 'read' || level === 'write')) {
      permissions[name] = level
    }
  }
  return permissions
}

const expiries: [string, string][] = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'A year'],
  ['', 'No expiry'],
]

const common = (kept: URLSearchParams) => html`
${field({ label: 'What it is for', name: 'note', value: kept.get('note'), required: true })}
${select('Expires after', 'days', expiries, kept.get('days') ?? '30')}`

function wantedOf({ form: given }: SignedIn): Wanted {
  const days = given.get('days') ?? ''
  return { note: typed(given, 'note'), days: expiries.some(([value]) => value === days) && days ? Number(days) : null }
}

function cards(visit: SignedIn, path: string, tokens: PersonalToken[]): Html {
  if (tokens.length === 0) return emptyState('key-asterisk', 'You have no tokens yet.', 'A token lets a program act for you.')
  const rows = tokens.map((token) => {
    const link = buttonLink('Delete', `${path}/delete?id=${token.id}`, {
      kind: 'danger',
      size: 'small',
      label: `Delete ${token.note ?? 'the token without a name'}`,
    })
    return settingRow('key-asterisk', describe(visit, token), link)
  })
  return box(rows)
}

function describe(visit: SignedIn, token: PersonalToken): Html {
  const { note: title, last_eight, created_at, expires_at, last_used_at } = token
  const over = expires_at && expires_at <= visit.db.now
  return html`<p><strong>${title ?? 'Without a name'}</strong> <code>…${last_eight}</code></p><p>${reachOf(token)}</p>
<p class="muted">Made ${moment(created_at)} · ${last_used_at ? html`last used ${moment(last_used_at)}` : 'never used'} ·
${expires_at ? html`${over ? 'expired' : 'expires'} ${moment(expires_at)}` : 'does not expire'}</p>`
}

function reachOf({ scopes, permissions, repositories, resource_owner }: PersonalToken): Html | string {
  if (!permissions) return scopes.length ? html`<code>${scopes.join(', ')}</code>` : 'No scopes'
  const allowed = Object.entries(permissions).map(([name, level]) => `${name.replaceAll('_', ' ')}: ${level}`)
  return html`${resource_owner}: ${repositories ? repositories.join(', ') || 'No repository any more' : 'All repositories'}<br><span class="muted">${allowed.join(', ')}</span>`
}

async function askToDelete(visit: SignedIn, kind: 'classic' | 'fine_grained', path: string): Promise<Outcome> {
  const tokens = await listPersonalTokens(visit.db, visit.visitor, kind)
  const token = tokens.find(({ id }) => String(id) === visit.query.get('id'))
  if (!token) throw missing()
  const fields = html`<input type="hidden" name="id" value="${token.id}">`
  const body = html`<section class="card">${describe(visit, token)}</section>
<p>Programs that use it are refused at once. A deleted token cannot be brought back.</p>`
  return askFirst(visit, {
    path,
    title: 'Delete this token?',
    body,
    action: `${path}/delete`,
    fields,
    button: 'Delete this token',
  })
}

async function remove(visit: SignedIn, path: string): Promise<Outcome> {
  const id = typed(visit.form, 'id')
  if (!/^\d{1,15}$/.test(id)) throw missing()
  await visit.db.transaction((db) => deletePersonalToken(db, visit.visitor, Number(id)))
  return { to: path, flash: { done: 'The token is deleted.' } }
}
