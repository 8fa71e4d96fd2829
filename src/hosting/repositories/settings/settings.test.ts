import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'

async function openEngine() {
  const forge = await openForge()
  const [ada] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { auto_init: true })
  return Object.assign(forge, { ada, guest: await signedIn(forge, 'ada') })
}
const settings = '/ada/engine/settings'

test('an administrator renames and describes a repository; a refused form keeps what was typed', async () => {
  await using forge = await openEngine()
  const { ada, guest } = forge
  const fields = {
    description: 'Turns numbers',
    homepage: '',
    topics: 'mills  engines',
    default_branch: 'main',
    has_issues: 'on',
  }
  const refused = await guest.fill(settings, { ...fields, name: '..', allow_merge_commit: 'on' })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /value="Turns numbers"/)
  assert.match((await guest.fill(settings, { ...fields, name: 'engine' })).text, /Choose at least one way to merge/)
  const saved = await guest.fillAndFollow(settings, { ...fields, name: 'mill', allow_squash_merge: 'on' })
  assert.match(saved.text, /The settings are saved/)
  const { name, description, topics, allow_merge_commit } = await ada.read('/repos/ada/mill')
  assert.deepEqual([name, description, topics, allow_merge_commit], ['mill', 'Turns numbers', ['mills', 'engines'], false])
  assert.equal((await guest.get(settings)).location, '/ada/mill/settings')
})

test('what cannot be undone needs the full name', async () => {
  await using forge = await openEngine()
  const { ada, guest } = forge
  for (const act of ['visibility', 'archive', 'delete']) {
    assert.match((await guest.fill(settings, { confirm: 'engine' }, `${settings}/${act}`)).text, /To confirm, type ada\/engine/)
  }
  const { private: hidden, archived } = await ada.read('/repos/ada/engine')
  assert.deepEqual([hidden, archived], [false, false])
  const confirm = 'ada/engine'
  await guest.post(`${settings}/visibility`, { confirm })
  await guest.post(`${settings}/archive`, { confirm })
  const changed = await ada.read('/repos/ada/engine')
  assert.deepEqual([changed.private, changed.archived], [true, true])
  assert.equal((await guest.post(`${settings}/delete`, { confirm })).location, '/ada')
  assert.equal((await ada.get('/repos/ada/engine')).status, 404)
})

test('collaborators, deploy keys and protected branches have pages', async () => {
  await using forge = await openEngine()
  const { ada, guest } = forge
  const invited = await guest.fillAndFollow(`${settings}/collaborators`, { login: 'ben', role: 'push' })
  assert.match(invited.text, /ben is invited[\s\S]*Withdraw ben/)
  assert.match(
    (await guest.post(`${settings}/collaborators`, { login: 'ghost-user', role: 'push' })).text,
    /There is no user ghost-user/,
  )
  await guest.post(`${settings}/collaborators/remove`, { login: 'ben' })
  assert.deepEqual(await ada.read('/repos/ada/engine/invitations'), [])

  const rules = { branch: 'main', reviews: 'on', approvals: '2', checks: 'on', contexts: 'build, lint', enforce_admins: 'on' }
  assert.match((await guest.fill(`${settings}/branches/edit`, { ...rules, approvals: '9' })).text, /between 0 and 6/)
  const listed = await guest.fillAndFollow(`${settings}/branches/edit`, rules)
  assert.match(listed.text, /pull requests with 2 approvals · 2 required checks/)
  const protection = await ada.read('/repos/ada/engine/branches/main/protection')
  assert.equal(protection.required_pull_request_reviews.required_approving_review_count, 2)
  assert.deepEqual(protection.required_status_checks.contexts, ['build', 'lint'])
  await guest.post(`${settings}/branches/delete`, { branch: 'main' })
  await expect(404, await ada.get('/repos/ada/engine/branches/main/protection'))
})

test('only administrators see the settings', async () => {
  await using forge = await openEngine()
  const ben = await signedIn(forge, 'ben')
  const paths = ['', '/collaborators', '/branches', '/branches/edit', '/keys', '/hooks']
  for (const path of paths) assert.ok([403, 404].includes((await ben.get(settings + path)).status), path)
  await ben.get('/settings/profile')
  for (const path of [
    '',
    '/delete',
    '/archive',
    '/visibility',
    '/collaborators',
    '/collaborators/remove',
    '/branches/edit',
    '/branches/delete',
    '/keys/delete',
  ]) {
    assert.equal((await ben.post(settings + path, { confirm: 'ada/engine' })).status, 403, path)
  }
})
