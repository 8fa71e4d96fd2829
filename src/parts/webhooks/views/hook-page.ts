import { loadOrganization, type Organization } from '#hosting/organizations/organizations.ts'
import { organizationHeader } from '#hosting/organizations/views/organization-header.ts'
import { loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { settingsFrame } from '#hosting/repositories/views/settings-page.ts'
import { checkNotSuspended } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import { type HookTarget, targetOf } from '#parts/webhooks/hook-target.ts'
import { type Hook, loadHook } from '#parts/webhooks/hooks.ts'
import type { Queryable, Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { tabs } from '#web/components/tabs.ts'
import { type Html, html } from '#web/html.ts'
import type { Above, Outcome, SignedIn } from '#web/page.ts'

export interface TargetVisit {
  target: HookTarget
  repo: Repository | null
  /** The path of the list. Pages of one hook are below it. */
  path: string
  name: string
  above: Above
}

export const hookPaths = ['/:owner/:repo/settings/hooks', '/organizations/:org/settings/hooks']

interface Asked {
  db: Queryable
  visitor: Account
  params: Record<string, string>
  request?: { method: string }
}

/** Responds 404 to visitors who do not administer the target. */
export async function loadTarget({ db, visitor, params, request }: Asked): Promise<TargetVisit> {
  const { owner = '', repo: name = '', org: login } = params
  if (/\0/.test(owner + name + (login ?? ''))) throw missing()
  if (login !== undefined) {
    const org = await loadOrganization(db, visitor.id, login)
    if (request?.method === 'POST') checkNotSuspended(org)
    const path = organizationHooks(org)
    return { target: targetOf({ org }), repo: null, path, name: org.login, above: organizationHeader(org, 'settings') }
  }
  const repo = await loadRepository(db, { viewer_id: visitor.id, sees_private: true }, owner, name)
  const path = `${pathOf(repo)}/settings/hooks`
  return {
    target: targetOf({ repo }),
    repo,
    path,
    name: `${repo.owner_login}/${repo.name}`,
    above: repositoryHeader(repo, 'settings'),
  }
}

const organizationHooks = ({ login }: Pick<Organization, 'login'>) => `/organizations/${login}/settings/hooks`

export interface HookVisit extends TargetVisit {
  hook: Hook
}

export async function loadHookVisit(asked: Asked): Promise<HookVisit> {
  const found = await loadTarget(asked)
  return { ...found, hook: await loadHook(asked.db, found.target, idIn(asked.params.hook_id)) }
}

/** Ids of deliveries have up to fifteen digits. */
export function idIn(text: string | undefined): number {
  if (!/^[1-9]\d{0,14}$/.test(text ?? '')) throw missing()
  return Number(text)
}

export const hookPath = ({ path, hook }: HookVisit) => `${path}/${hook.id}`

/** A form handler that changes a hook and returns to its page. */
export const changeHook =
  (done: string, act: (db: Transaction, visited: HookVisit, visit: SignedIn) => Promise<unknown>) =>
  async (visit: SignedIn): Promise<Outcome> => {
    const visited = await loadHookVisit(visit)
    await visit.db.transaction((db) => act(db, visited, visit))
    return { to: `${hookPath(visited)}?done=${done}` }
  }

export function targetPage({ above, name, repo }: TargetVisit, title: string, body: Html, status = 200) {
  const main = html`<main class="conversation hooks">${body}</main>`
  return {
    title: `${title} · ${name}`,
    status,
    body: repo ? settingsFrame(repo, '/hooks', main) : main,
    above,
  }
}

const sections = [
  ['', 'Deliveries'],
  ['/edit', 'Settings'],
  ['/diagnose', 'Diagnose'],
] as const

export function hookPage(
  visited: HookVisit,
  current: (typeof sections)[number][0] | null,
  title: string,
  body: Html,
  status = 200,
) {
  const { hook } = visited
  const links = sections.map(([end, text]) => ({ text, href: `${hookPath(visited)}${end}`, current: end === current }))
  const heading = html`<h1>${shortUrl(hook.url)}</h1>${tabs('Webhook', links)}`
  return targetPage(visited, `${title} · Webhook`, html`${heading}${body}`, status)
}

/** Highlights the host, because the URL may be long. */
export function shortUrl(url: string): Html {
  const { protocol, host = '' } = URL.parse(url) ?? {}
  if (!host) return html`<span class="url">${url}</span>`
  const start = `${protocol}//`
  const at = url.toLowerCase().indexOf(host, start.length)
  if (at < 0) return html`<span class="url">${url}</span>`
  const rest = url.slice(at + host.length)
  return html`<span class="url"><span class="muted">${url.slice(0, at)}</span>${url.slice(at, at + host.length)}<span class="muted">${rest === '/' ? '' : rest}</span></span>`
}
