import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApp } from '#app.ts'
import { listReservedLogins } from '#hosting/people/people.ts'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { Guest } from '#test/guest.ts'

test('the first part of every address of the web listener is no login, on either variant', async () => {
  await using forge = await openForge()
  const { web } = await openApp(forge.belfry)
  await web.ready()
  // One line for each route below the root; those of accounts begin with a parameter.
  const lines = web.printRoutes({ commonPrefix: false }).split('\n')
  const firsts = lines.flatMap((line) => /^ {4}[├└]── ([a-z\d-]+)/.exec(line)?.[1] ?? [])
  const names = [...new Set(firsts)]
  assert.ok(names.length > 12 && names.includes('assets') && names.includes('settings'), names.join())
  const admins = [forge.admin, forge.admin.versioned]
  for (const [index, login] of names.entries()) {
    const admin = admins[index % 2] ?? forge.admin
    const { errors } = await expect(422, await admin.post('/admin/users', { login, email: `${login}@example.com` }))
    assert.equal(errors[0].message, `login '${login}' is reserved`)
  }
  for (const admin of admins) {
    for (const login of ['assets', 'Assets']) {
      assert.equal((await admin.post('/admin/users', { login, email: 'a@example.com' })).status, 422)
      assert.equal((await admin.post('/admin/organizations', { login, admin: 'admin' })).status, 422)
    }
  }
  const typed = { login: 'assets', email: 'a@example.com', password: 'long enough' }
  assert.match((await new Guest(forge).fill('/signup', typed)).text, /is reserved/)
})

test('an account that was there before its login was reserved keeps it', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const { db } = forge.belfry
  await db.query(sql`update accounts set login = 'assets' where login = 'ada'`)
  for (const nobody of [forge.nobody, forge.nobodyVersioned]) assert.equal((await nobody.read('/users/assets')).login, 'assets')
  assert.match((await new Guest(forge).get('/assets')).text, /aria-label="Profile"/)
  assert.equal((await new Guest(forge).signIn('assets', "ada's password")).status, 303)
  assert.deepEqual(await listReservedLogins(db), ['assets'])
})
