import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { exportOf, fetchAs, path, prepare } from '#test/exports.ts'
import { expect, openForge } from '#test/forge.ts'
import { Guest, makeToken, signedIn } from '#test/guest.ts'

test('an archive has what a user owns and wrote, and no secret', async () => {
  await using forge = await openForge()
  const [api, ben] = [await forge.person('ada'), await forge.person('ben')]
  const ada = await signedIn(forge, 'ada')
  const token = await makeToken(forge, ada, 'ada', '/settings/tokens', { note: 'Deploys', scopes: 'repo' })
  await api.owns('engine', { auto_init: true, private: true })
  await api.owns('empty')
  const secret = 'a-secret-of-a-hook'
  const config = { url: 'https://hooks.example/x', content_type: 'json', secret }
  await expect(201, await api.post('/repos/ada/engine/hooks', { config, events: ['push'] }))
  await expect(201, await api.post('/repos/ada/engine/labels', { name: 'kind: ☃', color: 'ff0000' }))
  await expect(201, await api.post('/repos/ada/engine/issues', { title: 'Mill', body: 'It <b>turns</b>', labels: ['kind: ☃'] }))
  await ben.owns('notes', { auto_init: true })
  await expect(201, await api.post('/repos/ben/notes/issues', { title: 'Elsewhere' }))
  await expect(201, await api.post('/repos/ben/notes/issues/1/comments', { body: 'And a comment' }))
  const { sha } = await ben.read('/repos/ben/notes/commits/main')
  await expect(201, await api.post(`/repos/ben/notes/commits/${sha}/comments`, { body: 'About the commit' }))
  for (const way of ['/user/starred/ben/notes', '/user/following/ben']) await expect(204, await api.put(way))
  await expect(201, await ben.post('/repos/ben/notes/issues/1/comments', { body: 'Answer' }))
  await ada.fill('/settings/feeds', { name: 'Reader' })

  using archive = await exportOf(forge, ada)
  assert.match(archive.read('README.txt'), /Data of ada/)
  assert.equal(JSON.parse(archive.read('profile.json')).login, 'ada')
  const one = (name: string) => archive.rows(`${name}.jsonl`)[0] ?? {}
  assert.partialDeepStrictEqual(one('emails'), { email: 'ada@example.com', primary: true, verified: true })
  assert.ok(archive.rows('tokens.jsonl').some(({ note }) => note === 'Deploys'))
  assert.equal(archive.rows('sessions.jsonl').length, 1)
  assert.partialDeepStrictEqual(one('stars'), { repository: 'ben/notes' })
  assert.partialDeepStrictEqual(one('following'), { login: 'ben' })
  assert.deepEqual(
    archive.rows('issues.jsonl').map(({ repository, title }) => `${repository} ${title}`),
    ['ada/engine Mill', 'ben/notes Elsewhere'],
  )
  assert.deepEqual(
    archive.rows('comments.jsonl').map(({ body }) => body),
    ['And a comment'],
  )
  assert.partialDeepStrictEqual(one('commit-comments'), { repository: 'ben/notes', commit_id: sha, body: 'About the commit' })
  assert.ok(
    archive.rows('notifications.jsonl').some(({ title, repository }) => title === 'Elsewhere' && repository === 'ben/notes'),
  )
  assert.ok(archive.rows('events.jsonl').some(({ type }) => type === 'IssueCommentEvent'))
  const own = 'repositories/engine/'
  assert.equal(JSON.parse(archive.read(`${own}repository.json`)).private, true)
  assert.equal(JSON.parse(Buffer.from(archive.read(`${own}issues.jsonl`), 'latin1').toString()).labels[0], 'kind: ☃')
  assert.partialDeepStrictEqual(archive.rows(`${own}webhooks.jsonl`), [{ url: 'https://hooks.example/x', has_secret: true }])
  assert.deepEqual(
    archive.names.filter((name) => name.startsWith('repositories/empty/')).includes('repositories/empty/repository.bundle'),
    false,
  )
  const clone = join(archive.folder, 'clone')
  execFileSync('git', ['clone', '--quiet', join(archive.folder, 'belfry-export', `${own}repository.bundle`), clone])
  assert.match(readFileSync(join(clone, 'README.md'), 'utf8'), /engine/)

  const hashes = await forge.belfry.db.rows<{ secret: string }>(sql`
    select password_hash as secret from accounts where password_hash is not null union all select encode(digest, 'hex') from tokens
    union all select encode(digest, 'base64') from sessions union all select encode(digest, 'hex') from feed_keys`)
  const values = [token.token, api.token, secret, ...ada.cookies.values(), ...hashes.map((row) => row.secret)]
  for (const value of values) assert.ok(value.length > 5 && !archive.text.includes(value), value)
  const audit = await forge.belfry.db.rows(sql`select actor_login, subject from audit_entries where action = 'user.export'`)
  assert.deepEqual(audit, [{ actor_login: 'ada', subject: 'ada' }])
})

test('nothing of a private repository is exported once access is lost', async () => {
  await using forge = await openForge()
  const [api, ben, cleo] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cleo')]
  const ada = await signedIn(forge, 'ada')
  await ben.owns('vault', { auto_init: true, private: true })
  const invitation = await expect(201, await ben.put('/repos/ben/vault/collaborators/ada', { permission: 'push' }))
  await expect(204, await api.patch(`/user/repository_invitations/${invitation.id}`))
  await expect(201, await api.post('/repos/ben/vault/issues', { title: 'Hidden-title', body: 'Hidden-body' }))
  await expect(201, await api.post('/repos/ben/vault/issues/1/comments', { body: 'Hidden-comment' }))
  await expect(201, await ben.post('/repos/ben/vault/issues/1/comments', { body: 'Hidden-answer to @ada' }))
  const { sha } = await ben.read('/repos/ben/vault/commits/main')
  await expect(201, await api.post(`/repos/ben/vault/commits/${sha}/comments`, { body: 'Hidden-remark' }))
  for (const way of ['/user/starred/ben/vault', '/repos/ben/vault/subscription']) await api.put(way, {})
  await expect(204, await api.put('/user/following/cleo'))
  const words = /vault|Hidden-/
  {
    using before = await exportOf(forge, ada)
    assert.match(before.text, words)
  }
  await expect(204, await ben.delete('/repos/ben/vault/collaborators/ada'))
  // A suspended account and a deleted one do not break the lists that name them.
  await cleo.owns('gone')
  await expect(201, await api.post('/repos/cleo/gone/issues', { title: 'In a repository that is deleted' }))
  await expect(204, await cleo.delete('/repos/cleo/gone'))
  await expect(204, await forge.admin.put('/users/cleo/suspended'))
  using after = await exportOf(forge, ada)
  assert.doesNotMatch(after.text, words)
  assert.deepEqual(
    after.rows('following.jsonl').map(({ login }) => login),
    ['cleo'],
  )
})

test('an archive takes the password after an hour, and one link is for one download', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  assert.equal((await new Guest(forge).get(path)).status, 303)
  forge.clock.advance(2 * 3600_000)
  const asked = await ada.fill(path, {})
  assert.equal(asked.status, 403)
  assert.match(asked.text, /Confirm that it is you/)
  const link = await prepare(ada, { confirm_password: "ada's password" })
  assert.equal((await fetchAs(forge, ada, link, { method: 'HEAD' })).status, 200)
  assert.equal((await (await fetchAs(forge, ada, link)).arrayBuffer()).byteLength > 500, true)
  assert.equal((await fetchAs(forge, ada, link)).status, 410, 'once')
  assert.equal((await fetchAs(forge, ada, `${path}/archive`)).status, 410)
  const late = await prepare(ada)
  forge.clock.advance(11 * 60_000)
  assert.equal((await fetchAs(forge, ada, late)).status, 410, 'too old')
})
