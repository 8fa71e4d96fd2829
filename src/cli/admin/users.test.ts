import assert from 'node:assert/strict'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { injecting, openForge, pick } from '#test/forge.ts'
import { openOperator, operatorOf } from '#test/operator.ts'

const inject = injecting(openForge)
const basic = (login: string, password: string) => ({ authorization: `Basic ${btoa(`${login}:${password}`)}` })

test('an operator creates a user, whose password is printed once', inject(async (forge) => {
  const operator = operatorOf(forge)
  const made = await operator.data('users', 'create', 'ada', '--email', 'ada@example.com', '--name', 'Ada', '--admin')
  assert.partialDeepStrictEqual(made, { login: 'ada', email: 'ada@example.com', site_admin: true })
  const user = await forge.nobody.with(basic('ada', made.password)).read('/user')
  assert.partialDeepStrictEqual(user, { login: 'ada', name: 'Ada', site_admin: true })
  const listed = await operator.data('users', 'list', '--filter', 'site_admins')
  assert.deepEqual(pick(listed, 'login'), ['ada', 'admin'])
  assert.ok(!JSON.stringify(listed).includes('password'))
  const text = await operator.text('users', 'list', '--search', 'ad', '--limit', '1')
  assert.match(text, /^LOGIN +NAME .*\nada +Ada +ada@example.com +site admin +0 .*\n1 of 2 are shown/)
  assert.match((await operator.run('users', 'create', 'ADA')).stderr, /^Validation Failed: login is already taken\.$/)
  const silent = await operator.data('users', 'create', 'silent', '--no-password')
  assert.equal('password' in silent, false)
}))

test('users of a file are created with their teams, all or none', inject(async (forge) => {
  const operator = operatorOf(forge)
  const ada = await forge.person('ada')
  await forge.organization('acme', ada)
  await operator.text('teams', 'create', 'acme', 'Core', '--maintainer', 'ada')
  using folder = mkdtempDisposableSync(join(tmpdir(), 'belfry-users-'))
  const file = join(folder.path, 'users.csv')
  const fromFile = (text: string, ...options: string[]) => {
    writeFileSync(file, text)
    return operator.run('users', 'from-file', file, '--json', ...options)
  }
  const good = 'login,name,email,teams\r\ngrace,"Hopper, Grace",grace@example.com,acme/core\nlinus,,,acme\nada,,,acme/core\n'
  assert.deepEqual(pick(JSON.parse((await fromFile(good, '--dry-run')).stdout), 'login', 'created'), [
    ['grace', true],
    ['linus', true],
    ['ada', false],
  ])
  assert.deepEqual(pick(await operator.data('users', 'list'), 'login'), ['ada', 'admin'])
  const [grace] = JSON.parse((await fromFile(good)).stdout)
  forge.clock.advance(1000)
  const user = await forge.nobody.with(basic('grace', grace.password)).read('/user')
  assert.partialDeepStrictEqual(user, { name: 'Hopper, Grace', email: 'grace@example.com' })
  const members = pick(await operator.data('teams', 'members', 'acme', 'core'), 'login', 'role')
  assert.deepEqual(members, [
    ['ada', 'maintainer'],
    ['grace', 'member'],
  ])
  assert.deepEqual(pick(await operator.data('orgs', 'members', 'acme'), 'login'), ['ada', 'grace', 'linus'])

  const refusals: [string, RegExp][] = [
    ['', /^The first line must name the columns: login/],
    ['login,phone\nx,1', /It has "phone"\.$/],
    ['login\nmax\nMAX', /^Line 3: MAX is in the file twice\. Nothing was changed\.$/],
    ['login,teams\nmax,acme\nmoritz,acme/nothing', /^Line 3: There is no team "nothing" in acme\./],
    ['login\nmax\nnot a login', /^Line 3: "not a login" is not a login/],
    ['login,email\nmax,max@example.com\nmoritz,grace@example.com', /^Line 3: email is already taken\./],
  ]
  for (const [text, message] of refusals) assert.match((await fromFile(text)).stderr, message)
  assert.deepEqual(pick(await operator.data('users', 'list', '--search', 'm'), 'login'), [])
}))

test('suspending, promoting and their opposites take effect, and are in the audit log', inject(async (forge) => {
  const operator = operatorOf(forge)
  const ada = await forge.person('ada')
  assert.equal(await operator.text('users', 'suspend', 'ADA'), 'ada is suspended.')
  forge.clock.advance(1000)
  assert.equal((await ada.get('/user')).status, 401)
  await operator.text('users', 'unsuspend', 'ada')
  assert.deepEqual((await operator.data('users', 'promote', 'ada')).site_admin, true)
  forge.clock.advance(1000)
  assert.equal((await ada.read('/user')).site_admin, true)
  await operator.text('users', 'demote', 'ada')
  const entries = await operator.data('audit', '--action', 'user')
  assert.deepEqual(pick(entries, 'action', 'subject', 'via', 'actor_id'), [
    ['user.demote', 'ada', 'command line', null],
    ['user.promote', 'ada', 'command line', null],
    ['user.unsuspend', 'ada', 'command line', null],
    ['user.suspend', 'ada', 'command line', null],
  ])
  for (const act of ['demote', 'suspend'])
    assert.match(
      (await operator.run('users', act, 'admin')).stderr,
      /^admin is the only site admin\. Promote another user first\.$/,
    )
  const { code, stderr } = await operator.run('users', 'suspend', 'nobody-here')
  assert.deepEqual([code, stderr], [1, 'There is no user "nobody-here".'])
}))

test('a reset password works at once, ends sessions, and can remove the second factor', inject(async (forge) => {
  const operator = operatorOf(forge)
  await forge.person('ada')
  const { db } = forge.belfry
  const added = sql`insert into sessions (user_id, digest, address, user_agent, created_at, last_seen_at, expires_at)
    select id, '\\x01', '::1', '', ${db.now}, ${db.now}, ${db.now}::timestamptz + interval '1 day' from accounts where login = 'ada'`
  await db.query(added)
  await db.query(sql`insert into two_factor (user_id, kind, phone, last_step, enabled_at)
    select id, 'sms', '+4930', 0, ${db.now} from accounts where login = 'ada'`)
  const first = await operator.data('users', 'reset-password', 'ada')
  assert.equal((await db.rows(sql`select from sessions`)).length, 0)
  assert.equal((await db.rows(sql`select from two_factor`)).length, 1)
  const second = await operator.data('users', 'reset-password', 'ada', '--disable-two-factor')
  forge.clock.advance(1000)
  assert.equal((await forge.nobody.with(basic('ada', first.password)).get('/user')).status, 401)
  assert.equal((await forge.nobody.with(basic('ada', second.password)).read('/user')).login, 'ada')
  const actions = pick(await operator.data('audit', '--action', 'user', '--limit', '3'), 'action')
  assert.deepEqual(actions, ['user.disable_two_factor', 'user.reset_password', 'user.reset_password'])
}))

test('wrong arguments are refused with a hint, and every command has help', inject(async (forge) => {
  const operator = operatorOf(forge)
  for (const [given, message] of [
    [['users', 'create'], /^LOGIN is missing\. Run npx belfry admin users create --help/],
    [['users', 'create', 'bad name!'], /^"bad name!" is not a login/],
    [['users', 'create', 'a', 'b'], /^"b" is one argument too many/],
    [['users', 'list', '--filter', 'odd'], /^There is no filter "odd"/],
    [['users', 'list', '--limit', '0'], /^--limit must be a whole number from 1/],
    [['users', 'vanish'], /^"users vanish" is no command/],
    [['audit', '--since', 'yesterday'], /^--since is "yesterday"/],
    [[], /^A command is missing/],
  ] as const) {
    assert.match((await operator.run(...given)).stderr, message)
  }
  const elsewhere = openOperator({ BELFRY_DATA: '/nonexistent/belfry' })
  assert.match(
    (await elsewhere.run('users', 'list')).stderr,
    /^BELFRY_DATA is "\/nonexistent\/belfry": no Belfry has been started there\./,
  )
  const { BELFRY_DATA } = forge.belfry.settings
  const unreachable = openOperator({ BELFRY_DATA, DATABASE_URL: 'postgres://127.0.0.1:1/none' })
  assert.match(
    (await unreachable.run('users', 'list')).stderr,
    /^Cannot connect to the PostgreSQL server in DATABASE_URL: .*ECONNREFUSED/,
  )
  const help = await operator.text('users', '--help')
  const names = [...help.matchAll(/^ {2}(users \S+)/gm)].map(([, name = '']) => name)
  assert.equal(names.length, 8)
  for (const name of names) assert.match(await operator.text(...name.split(' '), '--help'), /--json +print the result as JSON/)
}))
