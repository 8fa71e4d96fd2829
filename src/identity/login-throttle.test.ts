import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { Guest, type Shown } from '#test/guest.ts'

const alertOf = ({ text }: Shown) => /role="alert">([^<]*)</.exec(text)?.[1]

/** A page without what differs from visit to visit. */
const plain = ({ text }: Shown) => text.replaceAll(/name="csrf" value="\w+"/g, '')

test('a wrong password is one answer, whether the account is there, suspended or unknown', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  await forge.person('ben')
  await forge.belfry.db.query(sql`update accounts set suspended_at = ${forge.clock.now()} where login = 'ben'`)
  const pages = []
  for (const [login, password] of [
    ['ada', 'wrong'],
    ['nobody', 'wrong'],
    ['ben', 'wrong'],
    ['admin', ''],
  ] as const) {
    const answer = await new Guest(forge).signIn(login, password)
    assert.equal(answer.status, 422)
    assert.equal(alertOf(answer), 'The login or the password is wrong.')
    assert.ok(!answer.headers.getSetCookie().some((cookie) => cookie.startsWith('belfry_session')))
    pages.push(plain(answer).replace(`value="${login}"`, ''))
  }
  assert.equal(new Set(pages).size, 1)
})

test('a suspended person with the right password reads that the account is suspended', async () => {
  await using forge = await openForge()
  await forge.person('ben')
  await forge.admin.put('/users/ben/suspended')
  const answer = await new Guest(forge).signIn('ben')
  assert.equal(answer.status, 403)
  assert.match(alertOf(answer) ?? '', /^This account is suspended\./)
  assert.ok(!answer.headers.getSetCookie().some((cookie) => cookie.startsWith('belfry_session')))
  const basic = { authorization: `Basic ${btoa("ben:ben's password")}` }
  assert.match((await expect(403, await forge.nobody.with(basic).get('/user'))).message, /account is suspended/)
})

test('a name that nobody has costs as much as one that somebody has', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const costs: string[] = []
  const note = (cost: unknown) => void costs.push(`${cost}`)
  subscribe('belfry:password:verifying', note)
  const cost = async (login: string) => {
    assert.equal((await new Guest(forge).signIn(login, 'wrong')).status, 422)
    return costs.splice(0)
  }
  try {
    assert.match((await cost('ada')).join(), /^\$argon2id\$v=19\$m=\d{5},t=\d,p=1$/)
    assert.deepEqual(await cost('nobody'), await cost('ada'))
    assert.deepEqual(await cost('nobody@example.com'), await cost('ada@example.com'))
  } finally {
    unsubscribe('belfry:password:verifying', note)
  }
})

test('after ten wrong passwords for an account none is taken, until a quarter of an hour has passed', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  await forge.person('ben')
  const guesser = new Guest(forge)
  for (let count = 0; count < 10; count++) assert.equal((await guesser.signIn('ada', 'wrong')).status, 422)
  const stopped = await guesser.signIn('ADA', "ada's password")
  assert.equal(stopped.status, 403)
  assert.equal(alertOf(stopped), 'Maximum number of login attempts exceeded. Please try again later.')
  assert.equal((await new Guest(forge).signIn('ben')).status, 303, 'others are not concerned')
  for (let count = 0; count < 10; count++) await guesser.signIn('nobody', 'wrong')
  assert.equal(
    plain(await guesser.signIn('nobody', 'wrong')),
    plain(await guesser.signIn('ada')).replace('value="ada"', 'value="nobody"'),
  )
  forge.clock.advance(15 * 60_000 + 1)
  assert.equal((await guesser.signIn('ada')).status, 303)
})

test('wrong passwords count at the account, whether by login or by e-mail address, in any spelling', async () => {
  await using forge = await openForge()
  await forge.person('lilith')
  const guesser = new Guest(forge)
  const names = ['lilith', 'LILITH', 'lilith@example.com', 'LILITH@example.com', 'l\u0130lith@example.com']
  for (let count = 0; count < 10; count++) {
    assert.equal((await guesser.signIn(names[count % names.length] ?? '', 'wrong')).status, 422)
  }
  for (const name of names) assert.equal((await guesser.signIn(name, "lilith's password")).status, 403, name)
  const basic = { authorization: `Basic ${btoa("lilith@example.com:lilith's password")}` }
  assert.equal((await forge.nobody.with(basic).get('/user')).status, 403)
})

test('a login is ASCII: another letter that PostgreSQL lowers to the same one does not sign in', async () => {
  await using forge = await openForge()
  await forge.person('lilith')
  for (const name of ['l\u0130lith', 'lili\u0442h'])
    assert.equal((await new Guest(forge).signIn(name, "lilith's password")).status, 422)
  assert.equal((await new Guest(forge).signIn('LILITH', "lilith's password")).status, 303)
})

test('after fifty wrong passwords from one address none is taken from there', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const from = (address: string) => new Guest(forge, { 'x-forwarded-for': address })
  const guesser = from('192.0.2.7')
  await guesser.get('/login')
  for (let count = 0; count < 50; count++) {
    assert.equal((await guesser.post('/login', { login: `name-${count}`, password: 'wrong' })).status, 422)
  }
  assert.equal((await guesser.signIn('ada')).status, 403)
  assert.equal((await from('192.0.2.8').signIn('ada')).status, 303)
  forge.clock.advance(15 * 60_000 + 1)
  assert.equal((await guesser.signIn('ada')).status, 303)
})
