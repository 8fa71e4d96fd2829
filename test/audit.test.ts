import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { asApp, asInstallation, registerApp } from './apps.ts'
import { openWatched, undriven } from './audit.ts'
import { expect, injecting } from './forge.ts'
import { signedIn } from './guest.ts'
import { ask, consent, register, signIn } from './oauth.ts'

const inject = injecting(openWatched)
const engine = '/repos/ada/engine'

function newSshKey() {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const part = (bytes: Buffer) => Buffer.concat([Buffer.from(Uint32Array.of(bytes.length).buffer).reverse(), bytes])
  const body = Buffer.concat([part(Buffer.from('ssh-ed25519')), part(Buffer.from(x, 'base64url'))])
  return `ssh-ed25519 ${body.toString('base64')}`
}

test('tokens and keys of users are in the audit log', inject(async ({ forge, watch, ada }) => {
  const guest = await signedIn(forge, 'ada')
  const token = { note: 'x', days: '', reach: 'all' }
  await watch('token.create', () => guest.fill('/settings/tokens', { ...token, scopes: 'repo' }))
  await watch('token.create', () => guest.fill('/settings/tokens/fine-grained', token))
  const { text } = await guest.get('/settings/tokens/fine-grained')
  const id = /\/delete\?id=(\d+)"/.exec(text)?.[1] ?? ''
  await watch('token.delete', () => guest.fill(`/settings/tokens/delete?id=${id}`, { id }, '/settings/tokens/delete'))
  const byPassword = forge.nobody.with({ authorization: `Basic ${btoa("ada:ada's password")}` })
  const made = await watch('token.create', () => byPassword.post('/authorizations', { note: 'script', scopes: ['repo'] }))
  const at = `/authorizations/${(await made.json()).id}`
  await watch('token.update', () => byPassword.patch(at, { add_scopes: ['gist'] }))
  await watch('token.delete', () => byPassword.delete(at))
  const key = await watch('ssh_key.create', () => ada.post('/user/keys', { title: 'laptop', key: newSshKey() }))
  await watch('ssh_key.delete', async () => ada.delete(`/user/keys/${(await key.json()).id}`))
  const feed = await watch('feed_key.create', () => ada.post('/user/feed_keys', { name: 'reader' }))
  await watch('feed_key.delete', async () => ada.delete(`/user/feed_keys/${(await feed.json()).id}`))
  const entries = await forge.admin.read('/enterprises/belfry/audit-log?phrase=action:token.create')
  assert.deepEqual(entries[0].data, { subject: 'ada: script' })
}))

test('ways to sign in are in the audit log', inject(async ({ forge, watch }) => {
  const guest = await signedIn(forge, 'ada')
  const wanted = 'a much better one'
  const words = { current: "ada's password", password: wanted }
  await watch('user.change_password', () => guest.fill('/settings/security', words, '/settings/security/password'))
  const { text } = await guest.get('/settings/security/app')
  const seed = (/class="seed">([^<]+)</.exec(text)?.[1] ?? '').replaceAll(' ', '')
  const proposal = /name="proposal" value="([\w-]+)"/.exec(text)?.[1] ?? ''
  const otp = new TOTP({ secret: Secret.fromBase32(seed) }).generate({ timestamp: forge.clock.now().getTime() })
  await watch('user.enable_two_factor', () => guest.post('/settings/security/app', { proposal, otp }))
  const change = (action: string) =>
    guest.fill('/settings/security', { password: wanted, action }, '/settings/security/two-factor')
  await watch('user.renew_recovery_codes', () => change('recovery'))
  await watch('user.disable_two_factor', () => change('off'))
}))

test('access to repositories is in the audit log', inject(async ({ watch, ada, ben, cy, organization }) => {
  await organization('acme', cy)
  await ada.owns('engine', { auto_init: true })
  const { id } = await expect(201, await ada.put(`${engine}/collaborators/ben`, { permission: 'pull' }))
  await watch('member.accepted member.added', () => ben.patch(`/user/repository_invitations/${id}`))
  await watch('member.edited', () => ada.put(`${engine}/collaborators/ben`, { permission: 'push' }))
  await watch('member.removed', () => ada.delete(`${engine}/collaborators/ben`))
  const key = await watch('deploy_key.created', () => ada.post(`${engine}/keys`, { title: 'ci', key: newSshKey() }))
  await watch('deploy_key.deleted', async () => ada.delete(`${engine}/keys/${(await key.json()).id}`))
  const rules = { required_status_checks: null, enforce_admins: null, required_pull_request_reviews: null, restrictions: null }
  const branch = `${engine}/branches/main`
  await watch('protection.created', () => ada.put(`${branch}/protection`, rules))
  await watch('protection.edited', () => ada.put(`${branch}/protection`, { ...rules, enforce_admins: true }))
  await watch('protection.move', () => ada.post(`${branch}/rename`, { new_name: 'trunk' }))
  await watch('protection.deleted', () => ada.delete(`${engine}/branches/trunk/protection`))
  const hook = await watch('hook.create', () => ada.post(`${engine}/hooks`, { config: { url: 'https://hook.example/secret' } }))
  const hooks = `${engine}/hooks/${(await hook.json()).id}`
  await watch('hook.update', () => ada.patch(hooks, { active: false }))
  await watch('hook.update', () => ada.patch(`${hooks}/config`, { content_type: 'json' }))
  await watch('hook.delete', () => ada.delete(hooks))
  await watch('repo.privatized', () => ada.patch(engine, { private: true }))
  await watch('repo.change_forking', () => ada.patch(engine, { allow_forking: false }))
  await watch('repo.publicized', () => ada.patch(engine, { private: false }))
  await watch('repo.archived', () => ada.patch(engine, { archived: true }))
  await watch('repo.unarchived', () => ada.patch(engine, { archived: false }))
  await watch('transfer.offered', () => ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  const [{ id: offer }] = await cy.read('/user/repository_transfers')
  await watch('repo.transferred', () => cy.patch(`/user/repository_transfers/${offer}`))
  await watch('repo.renamed', () => cy.patch('/repos/acme/engine', { name: 'mill' }))
  await watch('repo.deleted', () => cy.delete('/repos/acme/mill'))
}))

test('rights in organizations and teams are in the audit log', inject(async ({ forge, watch, ada, cy }) => {
  await forge.organization('acme', ada)
  const { id: invitee_id } = await cy.read('/user')
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  const [org, team, plans] = ['/orgs/acme', '/orgs/acme/teams/core', '/orgs/acme/teams/core/repos/acme/plans']
  await watch('organization.member_added', () => ada.put(`${org}/memberships/ben`))
  await watch('org.change_role', () => ada.put(`${org}/memberships/ben`, { role: 'admin' }))
  await watch('org.change_role', () => ada.put(`${org}/memberships/ben`, { role: 'member' }))
  await watch('org.change_default_permission', () => ada.patch(org, { default_repository_permission: 'none' }))
  await watch('org.change_forking', () => ada.patch(org, { members_can_fork_private_repositories: false }))
  await watch('team.created team.member_added', () => ada.post(`${org}/teams`, { name: 'Core' }))
  await watch('team.edited', () => ada.patch(team, { description: 'The core' }))
  await watch('team.member_added', () => ada.put(`${team}/memberships/ben`))
  await watch('team.change_role', () => ada.put(`${team}/memberships/ben`, { role: 'maintainer' }))
  await watch('team.added_to_repository', () => ada.put(plans, { permission: 'pull' }))
  await watch('team.access_edited', () => ada.put(plans, { permission: 'push' }))
  const [latest] = await forge.admin.read('/enterprises/belfry/audit-log?phrase=action:team.access_edited')
  assert.equal(latest.data.subject, '@acme/core: acme/plans')
  const converting = 'member.added_by_conversion organization.member_removed team.member_removed'
  await watch(converting, () => ada.put(`${org}/outside_collaborators/ben`))
  await watch('member.removed_with_membership', () => ada.delete(`${org}/outside_collaborators/ben`))
  await watch('team.removed_from_repository', () => ada.delete(plans))
  await watch('organization.member_invited', () => ada.post(`${org}/invitations`, { invitee_id }))
  await watch('team.deleted', () => ada.delete(team))
}))

test('applications, apps and what users grant them are in the audit log', inject(async ({ forge, watch, ada }) => {
  const visitor = await signIn(forge, 'ada')
  const app = await watch('application.create', () => register(forge, { owner: 'ada' }))
  const { client_id, client_secret } = app
  const form = { name: 'Weather', url: 'https://weather.example', callback_url: 'https://weather.example/back', description: '' }
  const at = `/settings/developers/${client_id}`
  await watch('application.update', () => visitor.fill(at, form))
  const code = await watch('oauth.authorize', () => consent(visitor, { client_id, scope: 'repo' }))
  const { access_token } = await ask(forge, { client_id, client_secret, code })
  const client = forge.nobody.with({ authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` })
  const reset = await watch('oauth.reset_token', () => client.patch(`/applications/${client_id}/token`, { access_token }))
  const { token } = await reset.json()
  await watch('oauth.delete_token', () => client.delete(`/applications/${client_id}/token`, { access_token: token }))
  const [latest] = await forge.admin.read('/enterprises/belfry/audit-log?phrase=action:oauth')
  assert.partialDeepStrictEqual(latest, { actor: 'Weather', data: { subject: 'ada', via: 'application' } })
  await watch('oauth.revoke', () => visitor.fill(`/settings/connections/applications/${client_id}`, {}))
  await watch('application.rotate_secret', () => visitor.fill(`${at}/secret`, {}, at))
  await watch('application.delete', () => visitor.fill(`${at}/delete`, {}))

  const { id: repo } = await ada.owns('engine', { private: true })
  const made = await watch('app.add_key app.create application.create', () =>
    registerApp(ada, { hook_attributes: { url: 'https://hook.example/' } }),
  )
  const settings = `/settings/apps/${made.slug}`
  await watch('app.add_key', () => visitor.fill(`${settings}/keys`, {}, '/settings/profile'))
  const second = /keys\/(\d+)\/delete(?![\s\S]*keys\/\d+\/delete)/.exec(await (await visitor.get(settings)).text())?.[1]
  await watch('app.delete_key', () => visitor.fill(`${settings}/keys/${second}/delete`, {}, '/settings/profile'))
  await watch('app.change_hook', () => asApp(forge, made).patch('/app/hook/config', { content_type: 'form' }))
  const installed = await watch('installation.create', () =>
    ada.post('/user/installations', { app_slug: made.slug, repository_ids: [repo] }),
  )
  const installation = await installed.json()
  await watch('installation.change_repositories', () => ada.delete(`/user/installations/${installation.id}/repositories/${repo}`))
  await watch('installation.suspend', () => asApp(forge, made).put(`/app/installations/${installation.id}/suspended`))
  await watch('installation.unsuspend', () => asApp(forge, made).delete(`/app/installations/${installation.id}/suspended`))
  await asInstallation(forge, made, installation)
  const asked = { permission_issues: 'write', permission_contents: 'read', events: 'issues' }
  await watch('app.change_access', () => visitor.fill(`${settings}/permissions`, asked))
  const page = `/settings/installations/${installation.id}`
  const asked_at = /name="asked_at" value="(\d+)"/.exec(await (await visitor.get(page)).text())?.[1] ?? ''
  await watch('installation.accept_permissions', () => visitor.fill(`${page}/permissions`, { asked_at }, page))
  await watch('installation.delete', () => ada.delete(`/user/installations/${installation.id}`))
  await watch('app.delete', () => visitor.fill(`${settings}/delete`, {}))
}))

test('acts of site admins are in the audit log', inject(async ({ forge, watch, ada }) => {
  const { admin } = forge
  await watch('user.create', () => admin.post('/admin/users', { login: 'dee', email: 'dee@belfry.example' }))
  await watch('user.promote', () => admin.put('/users/dee/site_admin'))
  await watch('user.demote', () => admin.delete('/users/dee/site_admin'))
  await watch('user.suspend', () => admin.put('/users/dee/suspended'))
  await watch('user.unsuspend', () => admin.delete('/users/dee/suspended'))
  await watch('user.impersonate', () => admin.post('/admin/users/dee/authorizations', { scopes: ['repo'] }))
  await watch('user.end_impersonation', () => admin.delete('/admin/users/dee/authorizations'))
  await watch('org.create', () => forge.organization('acme', ada))
  await watch('organization.member_added', () => ada.put('/orgs/acme/memberships/dee'))
  await watch('organization.member_removed user.delete user.suspend', () => admin.delete('/admin/users/dee'))
}))

test('every act of the audit log is driven by a test', () => {
  const elsewhere =
    /^(?:site|import|job)\.|^(?:hook\.(?:replay|resume_restored)|org\.(?:add_owner|delete|rename|suspend|unsuspend)|user\.(?:rename|export|reset_password)|token\.revoke(?:_all)?)$/
  assert.deepEqual(
    undriven().filter((act) => !elsewhere.test(act)),
    [],
  )
})
