import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageRoutes } from '#pages.ts'
import { type Forge, openForge } from '#test/forge.ts'
import { type Guest, signedIn } from '#test/guest.ts'
import { register } from '#test/oauth.ts'

/** Forms that do not ask for the password, by the reason. Every other form must ask. */
const exempt: Record<string, string[]> = {
  'It asks for the password itself, or there is no session yet': [
    '/login',
    '/login/otp',
    '/logout',
    '/signup',
    '/settings/confirm',
    '/settings/security/password',
    '/settings/security/two-factor',
  ],
  'It takes rights or a credential away, or refuses them': [
    '/settings/connections/applications/:client_id',
    '/settings/feeds/delete',
    '/settings/tokens/delete',
    '/settings/tokens/fine-grained/delete',
    '/settings/developers/:client_id/delete',
    '/settings/sessions',
    '/settings/sessions/others',
    '/settings/installation-requests/:id/delete',
    '/settings/installations/:id/delete',
    '/settings/apps/:slug/keys/:key_id/delete',
    '/settings/apps/:slug/delete',
    '/settings/keys/delete',
    '/settings/emails/delete',
    '/:owner/:repo/settings/keys/delete',
    '/:owner/:repo/settings/collaborators/remove',
    '/:owner/:repo/settings/hooks/:hook_id/delete',
    '/organizations/:org/settings/hooks/:hook_id/delete',
    '/orgs/:org/people/remove',
    '/orgs/:org/people/cancel',
    '/orgs/:org/teams/:slug/members/remove',
    '/orgs/:org/teams/:slug/repositories/remove',
    '/orgs/:org/teams/:slug/delete',
  ],
  'The visitor accepts what another account gave': ['/:owner/:repo/invitations', '/orgs/:org/invitation'],
  'A webhook is sent again to the address that it already has': [
    ...['/:owner/:repo/settings/hooks', '/organizations/:org/settings/hooks'].flatMap((path) => [
      `${path}/:hook_id/pings`,
      `${path}/:hook_id/tests`,
      `${path}/:hook_id/resume`,
      `${path}/:hook_id/diagnose`,
      `${path}/:hook_id/deliveries/:delivery_id/attempts`,
      `${path}/:hook_id/deliveries/:delivery_id/edit`,
    ]),
  ],
  'It changes how the site looks or what the visitor follows': [
    '/settings/profile',
    '/settings/appearance',
    '/settings/notifications',
    '/settings/emails/visibility',
    '/users/:login/follow',
    '/users/:login/unfollow',
    '/notifications',
    '/notifications/filters',
    '/:owner/:repo/star',
    '/:owner/:repo/unstar',
    '/:owner/:repo/watch',
    '/orgs/:org/people/visibility',
  ],
  'It retries or discards work of the server': ['/site-admin/jobs'],
  'It creates or changes what the account owns, and gives access to no one else': [
    '/new',
    '/new/import',
    '/organizations/new',
    '/organizations/:org/settings/rename',
    '/:owner/:repo/settings',
    '/:owner/:repo/settings/archive',
    '/:owner/:repo/settings/delete',
    '/:owner/:repo/settings/branches/edit',
    '/:owner/:repo/settings/branches/delete',
  ],
}

/** Contents of a repository: files, issues, pull requests, releases, imports. */
const contents =
  /^\/:owner\/:repo\/(issues|pull|compare|releases|tags|labels|milestones?|branches|commit|merge-upstream|fork|generate|import|preview|edit|new|delete|upload)(\/|$)/

/** What the form must send so that it would create a credential or give rights. */
const sent: Record<string, Record<string, string>> = {
  '/login/oauth/authorize': { decision: 'authorize' },
  '/login/device': { user_code: 'ABCD-EFGH', decision: 'authorize' },
  '/:owner/:repo/transfer': { answer: 'offer', new_owner: 'ben' },
}

const forms = pageRoutes.filter(({ method }) => method === 'POST')
const listed = new Set(Object.values(exempt).flat())
const asking = forms.filter(({ path }) => !listed.has(path) && !contents.test(path))

/** Ada, a site admin with a repository and an organization, more than an hour after she signed in. */
async function openLater(): Promise<{ forge: Forge; ada: Guest; client_id: string } & AsyncDisposable> {
  const forge = await openForge()
  const ada = await forge.person('ada')
  await forge.person('ben')
  await ada.owns('engine')
  await forge.admin.post('/admin/organizations', { login: 'acme', admin: 'ada' })
  await forge.admin.put('/users/ada/site_admin')
  const { client_id } = await register(forge)
  const guest = await signedIn(forge, 'ada')
  await guest.get('/settings/profile')
  forge.clock.advance(3600_001)
  return { forge, ada: guest, client_id, [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose]() }
}

test('every form that makes a credential or gives rights asks for the password after an hour', async () => {
  await using scene = await openLater()
  const { ada, client_id } = scene
  const values: Record<string, string> = { owner: 'ada', repo: 'engine', org: 'acme', login: 'ben' }
  assert.ok(asking.length > 20)
  const silent: string[] = []
  for (const { path } of asking) {
    const address = path.replaceAll(/:(\w+)/g, (_, name) => values[name] ?? '1')
    const query = path === '/login/oauth/authorize' ? `?client_id=${client_id}` : ''
    const { status, text } = await ada.post(`${address}${query}`, sent[path] ?? {})
    if (status !== 403 || !text.includes('name="confirm_password"')) silent.push(`${path}: ${status}`)
  }
  assert.deepEqual(silent, [])
})

test('the list of exempt forms names forms that exist', () => {
  const known = new Set(forms.map(({ path }) => path))
  assert.deepEqual(
    [...listed, ...Object.keys(sent)].filter((path) => !known.has(path)),
    [],
  )
})
