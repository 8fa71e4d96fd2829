import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestMeter } from '#http/request-meter.ts'
import { expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { readSeries, storeSample } from './samples.ts'

/** A forge with a site admin who signs in as `root`. */
async function openSite() {
  const forge = await openForge()
  const [ada] = [await forge.person('ada'), await forge.person('ben'), await forge.person('root')]
  await expect(204, await forge.admin.put('/users/root/site_admin'))
  return Object.assign(forge, { ada, guest: await signedIn(forge, 'root') })
}

const places = [
  '',
  '/users',
  '/users/new',
  '/users/ben',
  '/organizations',
  '/repositories',
  '/jobs',
  '/requests',
  '/audit',
  '/settings',
].map((path) => `/site-admin${path}`)

test('secrets are not among the settings shown', async () => {
  await using forge = await openSite()
  const { text } = await forge.guest.get('/site-admin/settings')
  assert.equal(text.includes(forge.belfry.settings.BELFRY_ADMIN_TOKEN ?? ''), false)
})

test('the administration exists for site admins only', async () => {
  await using forge = await openSite()
  const ada = await signedIn(forge, 'ada')
  for (const path of places) {
    assert.equal((await forge.guest.get(path)).status, 200, path)
    assert.equal((await ada.get(path)).status, 404, path)
    assert.match((await new Guest(forge).get(path)).location ?? '', /^\/login/, path)
  }
  await ada.get('/settings/profile')
  for (const path of ['/site-admin/users/new', '/site-admin/users/ben', '/site-admin/jobs'])
    assert.equal((await ada.post(path, { act: 'suspend' })).status, 404, path)
})

test('a site admin creates, suspends, promotes, renames and deletes people, and the audit log says so', async () => {
  await using forge = await openSite()
  const { guest } = forge
  assert.match((await guest.fill('/site-admin/users/new', { login: 'cy', password: 'short' })).text, /8 to 256 characters/)
  const made = await guest.fillAndFollow('/site-admin/users/new', {
    login: 'cy',
    email: 'cy@example.com',
    password: 'long enough',
  })
  assert.match(made.text, /cy has an account now/)
  assert.equal((await new Guest(forge).signIn('cy', 'long enough')).status, 303)
  for (const act of ['suspend', 'promote']) await guest.post('/site-admin/users/cy', { act })
  assert.match((await guest.get('/site-admin/users?filter=suspended')).text, /href="\/cy"[\s\S]*site admin[\s\S]*suspended/)
  for (const act of ['unsuspend', 'demote']) await guest.post('/site-admin/users/cy', { act })
  assert.equal(
    (await guest.post('/site-admin/users/cy', { act: 'rename', new_login: 'cyrus' })).location?.split('?')[0],
    '/site-admin/users/cyrus',
  )
  assert.match((await guest.post('/site-admin/users/cyrus', { act: 'delete', confirm: 'cy' })).text, /To confirm, type cyrus/)
  await guest.post('/site-admin/users/cyrus', { act: 'delete', confirm: 'cyrus' })
  assert.equal((await forge.nobody.get('/users/cyrus')).status, 404)
  assert.match((await guest.post('/site-admin/users/root', { act: 'suspend' })).text, /cannot suspend themselves/)

  const { text } = await guest.get('/site-admin/audit')
  const actions = [...text.matchAll(/<td><code>(user\.\w+)<\/code><\/td><td>([^<]*)</g)].map(
    ([, action, subject]) => `${action} ${subject}`,
  )
  assert.deepEqual(actions.slice(0, 8), [
    'user.delete cyrus',
    'user.suspend cyrus',
    'user.rename cy → cyrus',
    'user.demote cy',
    'user.unsuspend cy',
    'user.promote cy',
    'user.suspend cy',
    'user.create cy',
  ])
})

test('a site admin resets a password on the page: it is shown once, works at once, and ends sessions', async () => {
  await using forge = await openSite()
  const { guest } = forge
  await forge.person('cy')
  const cy = await signedIn(forge, 'cy')
  for (let count = 0; count < 10; count++) await new Guest(forge).signIn('cy', 'forgotten')
  assert.equal((await new Guest(forge).signIn('cy')).status, 403)
  const { text } = await guest.fillAndFollow('/site-admin/users/cy', { act: 'reset_password' })
  const password = /class="secret">(\w{20})</.exec(text)?.[1] ?? ''
  assert.doesNotMatch((await guest.get('/site-admin/users/cy')).text, /class="secret"/)
  assert.equal((await cy.get('/settings/profile')).status, 303, 'sessions have ended')
  assert.equal((await new Guest(forge).signIn('cy')).status, 422)
  assert.equal((await new Guest(forge).signIn('cy', password)).status, 303, 'although many guesses were wrong')
  assert.match((await guest.get('/site-admin/audit')).text, /user\.reset_password<\/code><\/td><td>cy/)
  const own = await guest.post('/site-admin/users/root', { act: 'reset_password' })
  assert.match(own.text, /cannot reset their own password/)
})

test('changes of rights and of repositories are in the audit log', async () => {
  await using forge = await openSite()
  const { ada, guest } = forge
  await ada.owns('engine')
  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  await expect(204, await ada.delete('/repos/ada/engine'))
  const { text } = await guest.get('/site-admin/audit?q=repo.')
  assert.match(text, /repo\.deleted<\/code><\/td><td>ada\/engine[\s\S]*repo\.privatized<\/code><\/td><td>ada\/engine/)
  assert.match((await guest.get('/site-admin/audit?q=%25')).text, /Nothing is recorded yet/, 'a percent sign is no pattern')
})

test('a node stores what it measured, with requests that failed', async () => {
  await using forge = await openSite()
  const { belfry, guest } = forge
  const meter = new RequestMeter()
  await storeSample(belfry.db, 'one', meter)
  forge.clock.advance(60_000)
  await storeSample(belfry.db, 'one', meter)
  const { steps } = await readSeries(belfry.db, 'hour')
  assert.equal(steps.filter((step) => step !== null).length, 2)
  assert.ok((steps.at(-1)?.database_bytes ?? 0) > 1_000_000)
  assert.match((await guest.get('/site-admin?span=day')).text, /Requests a minute/)
})
