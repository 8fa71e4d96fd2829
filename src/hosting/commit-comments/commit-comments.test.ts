import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { Contract, type Fault } from '#test/activity/schemas.ts'
import { engine, fineGrained, openWithEngine, repo } from '#test/conversations.ts'
import { subscribe } from '#test/feeds.ts'
import { type Client, expect, injecting } from '#test/forge.ts'
import { noticesOf } from '#test/notices.ts'
import { Octokit } from '#test/octokit.ts'
import { seeding } from '#test/seeding.ts'

const inject = injecting(openWithCommit)

/** Ben has pushed a commit to Ada's engine. */
const seed = seeding('ben', async (work) => ({
  branches: { main: await work.commit('Build the mill\n\nAs it was planned', { 'mill.txt': 'wheel\n' }) },
}))

async function openWithCommit() {
  const forge = await openWithEngine()
  const { work, branches } = await seed(forge, forge.ben)
  const sha = branches.main
  const on = `${engine}/commits/${sha}/comments`
  const say = async (who: Client, body = 'Hm', more = {}) => expect(201, await who.post(on, { body, ...more }))
  return Object.assign(forge, { sha, work, on, say })
}

test('octokit creates, lists, changes and deletes a commit comment', inject(async ({ web, versioned, dan, sha, clock }) => {
  for (const baseUrl of [`${web}/api/v3`, versioned]) {
    const { repos } = new Octokit({ baseUrl, auth: dan.token })
    const at = { path: 'mill.txt', position: 1, line: 1 }
    const made = await repos.createCommitComment({ ...repo, commit_sha: sha, body: 'A wheel?', ...at })
    const { id } = made.data
    assert.equal(made.headers.location, `${baseUrl}${engine}/comments/${id}`)
    assert.partialDeepStrictEqual(made.data, {
      url: `${baseUrl}${engine}/comments/${id}`,
      html_url: `${web}/ada/engine/commit/${sha}#commitcomment-${id}`,
      user: { login: 'dan' },
      commit_id: sha,
      body: 'A wheel?',
      author_association: 'NONE',
      ...at,
    })
    clock.advance(60_000)
    const changed = await repos.updateCommitComment({ ...repo, comment_id: id, body: 'A wheel!' })
    assert.notEqual(changed.data.updated_at, changed.data.created_at)
    assert.equal(changed.data.body, 'A wheel!')
    assert.deepEqual((await repos.getCommitComment({ ...repo, comment_id: id })).data, changed.data)
    for (const commit_sha of [sha, sha.slice(0, 8), 'main']) {
      assert.deepEqual((await repos.listCommentsForCommit({ ...repo, commit_sha })).data, [changed.data])
    }
    assert.deepEqual((await repos.listCommitCommentsForRepo(repo)).data, [changed.data])
    assert.equal((await repos.deleteCommitComment({ ...repo, comment_id: id })).status, 204)
    await assert.rejects(repos.getCommitComment({ ...repo, comment_id: id }), { status: 404 })
    assert.deepEqual((await repos.listCommentsForCommit({ ...repo, commit_sha: sha })).data, [])
  }
}))

test('commit comments can be changed by their author and with push access, through their own repository only', inject(async (forge) => {
  const { ada, ben, cy, dan, nobody, on } = forge
  const { id } = await forge.say(dan)
  const one = `${engine}/comments/${id}`
  const blind = await fineGrained(forge, 'ada', { contents: 'read' })
  for (const who of [
    nobody,
    cy,
    blind,
    await fineGrained(forge, 'dan', { contents: 'write' }),
    await forge.tokenFor('dan', ['gist']),
  ]) {
    const status = who === nobody ? 401 : 403
    assert.equal((await who.patch(one, { body: 'y' })).status, status)
    assert.equal((await who.delete(one)).status, status)
    if (who !== cy) assert.equal((await who.post(on, { body: 'y' })).status, status)
  }
  await expect(201, await (await fineGrained(forge, 'ada', { contents: 'write' })).post(on, { body: 'y' }))
  await dan.owns('engine')
  assert.equal((await dan.get(`/repos/dan/engine/comments/${id}`)).status, 404)
  assert.equal((await dan.delete(`/repos/dan/engine/comments/${id}`)).status, 404)
  assert.equal((await dan.post(`/repos/dan/engine/commits/${forge.sha}/comments`, { body: 'x' })).status, 409)
  await expect(200, await ben.patch(one, { body: 'y' }))
  await expect(204, await ben.delete(one))
  assert.equal((await ben.delete(one)).status, 404)
  await expect(200, await ada.patch(engine, { has_issues: false }))
  await forge.say(dan)
  await expect(200, await ada.patch(engine, { archived: true }))
  assert.equal((await dan.post(on, { body: 'x' })).status, 403)
}))

test('an invalid comment, or one on a missing commit, is refused', inject(async ({ dan, nobody, on, say }) => {
  const { id } = await say(dan, 'x'.repeat(65_536))
  assert.equal((await say(dan, 'half \ud83d')).body, 'half \ufffd')
  for (const wrong of [{}, { body: '' }, { body: ' \n' }, { body: 7 }, { body: null }, { body: 'x'.repeat(65_537) }]) {
    assert.equal((await dan.post(on, wrong)).status, 422)
    assert.equal((await dan.patch(`${engine}/comments/${id}`, wrong)).status, 422)
  }
  for (const wrong of [
    { path: 7 },
    { path: '' },
    { path: 'x'.repeat(4097) },
    { path: 'mill.txt', line: '1' },
    { path: 'mill.txt', position: 2 ** 31 },
    { path: 'mill.txt', line: -1 },
    { line: 1 },
    { position: 1, path: null },
  ]) {
    assert.equal((await dan.post(on, { body: 'x', ...wrong })).status, 422, JSON.stringify(wrong).slice(0, 80))
  }
  for (const name of ['0'.repeat(40), 'nowhere', '--help', '%00', 'main^{tree}', '\u{1f4a5}']) {
    const path = `${engine}/commits/${encodeURI(name).replace('%2500', '%00')}/comments`
    const status = name === '%00' ? 404 : 422
    assert.equal((await dan.post(path, { body: 'x' })).status, status, name)
    assert.equal((await nobody.get(path)).status, status, name)
  }
  const refused = await expect(422, await dan.post(`${engine}/commits/nowhere/comments`, { body: 'x' }))
  assert.equal(refused.message, 'No commit found for SHA: nowhere')
  for (const junk of ['0', 'x', '999999999999999', '99999999999999999']) {
    assert.equal((await dan.get(`${engine}/comments/${junk}`)).status, 404)
  }
}))

test('in a private repository only users with access can read, comment and get notifications', inject(async (forge) => {
  const { ada, cy, dan, nobody, on } = forge
  await expect(200, await ada.patch(engine, { private: true }))
  const { id } = await forge.say(cy)
  for (const who of [dan, nobody, await forge.tokenFor('ada', ['public_repo']), await fineGrained(forge, 'dan', {})]) {
    for (const path of [on, `${engine}/comments`, `${engine}/comments/${id}`])
      assert.equal((await who.get(path)).status, 404, path)
  }
  assert.equal((await dan.post(on, { body: 'x' })).status, 404)
  assert.equal((await (await fineGrained(forge, 'ada', { issues: 'write' })).get(on)).status, 404)
  const told = async (who: Client) => (await who.read('/users/cy/events')).map(({ type }: { type: string }) => type)
  assert.ok((await told(cy)).includes('CommitCommentEvent'))
  assert.ok(!(await told(dan)).includes('CommitCommentEvent'))
}))

test('a commit comment records its notification in its own transaction, with the commit’s first line and author', inject(async (forge) => {
  const { id, url } = await forge.say(forge.dan, 'See @ada')
  await expect(200, await forge.dan.patch(url, { body: 'See @ada' }))
  await expect(200, await forge.ben.patch(url, { body: 'See @cy' }))
  assert.deepEqual(await noticesOf(forge), [
    'dan commented Commit Build the mill CommitComment "See @ada"',
    'ben edited Commit Build the mill CommitComment "See @cy" "See @ada"',
  ])
  const { db } = forge.belfry
  const joined = await db.rows(sql`
    select a.login, s.reason from thread_subscriptions s join accounts a on a.id = s.user_id
    join notification_subjects t on t.id = s.subject_id where t.type = 'Commit' order by a.login`)
  assert.deepEqual(joined, [
    { login: 'ben', reason: 'author' },
    { login: 'dan', reason: 'comment' },
  ])
  const [subject] = await db.rows(sql`select commit_id, latest_type, latest_id from notification_subjects where type = 'Commit'`)
  assert.deepEqual(subject, { commit_id: forge.sha, latest_type: 'CommitComment', latest_id: id })
}))

test('timelines and feeds show a commit comment until it is deleted', inject(async ({ forge, nobody, dan }) => {
  const comment = await forge.say(dan, '**Look** & see')
  const told = async (anyone: Client) =>
    (await anyone.read(`${engine}/events`)).filter(({ type }: { type: string }) => type === 'CommitCommentEvent')
  for (const anyone of [nobody, forge.nobodyVersioned]) {
    const [event] = await told(anyone)
    assert.equal(event.actor.login, 'dan')
    assert.equal(event.payload.action, 'created')
    const { reactions: _, ...shown } = await anyone.read(`${engine}/comments/${comment.id}`)
    assert.deepEqual(event.payload.comment, shown, 'an event shows no reactions, which come later')
  }
  const { titles, text } = await subscribe(`${forge.web}/dan.atom`)
  assert.equal(titles[0], `dan commented on commit ${forge.sha.slice(0, 7)} in ada/engine`)
  assert.ok(text.includes(`href="${comment.html_url}"`))
  await expect(204, await dan.delete(comment.url))
  assert.deepEqual(await told(nobody), [])
}))

test('commits with a long message in an invalid encoding, and commits that git removed, can have comments', inject(async (forge) => {
  const { dan, work } = forge
  const { url } = await forge.say(dan)
  const tree = await work.git('rev-parse', 'HEAD^{tree}')
  await work.commit('x', {
    'object.txt': Buffer.from(
      `tree ${tree}\nauthor ? <> 1 +0000\ncommitter ? <> 1 +0000\n\nab\xff ${'c'.repeat(300)}\n`,
      'latin1',
    ),
  })
  const odd = await work.git('hash-object', '-t', 'commit', '-w', '--literally', 'object.txt')
  await work.push(`${odd}:refs/heads/odd`)
  await expect(201, await dan.post(`${engine}/commits/odd/comments`, { body: 'Odd' }))
  assert.match((await noticesOf(forge)).at(-1) ?? '', /^dan commented Commit ab\ufffd c{252} CommitComment$/)
  await forge.belfry.storage.erase(forge.id)
  await forge.belfry.storage.create(forge.id, 'main')
  await expect(200, await dan.patch(url, { body: 'Gone' }))
  assert.match((await noticesOf(forge)).at(-1) ?? '', /edited Commit Build the mill/)
}))

test('every response about commit comments matches the public documentation, on both variants', inject(async (forge) => {
  for (const name of ['self-hosted', 'versioned'] as const) {
    const contract = Contract.of(name)
    const ada: Client = name === 'versioned' ? forge.ada.versioned : forge.ada
    const made = await forge.say(ada, 'Hm', { path: 'mill.txt', position: 1 })
    const one = `${engine}/comments/${made.id}`
    const events = (await ada.read(`${engine}/events`)) as { type: string; payload: unknown }[]
    const faults: Fault[] = [
      ...contract.check('repos/create-commit-comment', 201, 'application/json', made),
      ...contract.check('repos/get-commit-comment', 200, 'application/json', await ada.read(one)),
      ...contract.check(
        'repos/update-commit-comment',
        200,
        'application/json',
        await expect(200, await ada.patch(one, { body: 'x' })),
      ),
      ...contract.check('repos/list-comments-for-commit', 200, 'application/json', await ada.read(forge.on)),
      ...contract.check('repos/list-commit-comments-for-repo', 200, 'application/json', await ada.read(`${engine}/comments`)),
      ...events.filter(({ type }) => type === 'CommitCommentEvent').flatMap((event) => contract.checkPayload('events', event)),
    ]
    assert.ok(events.some(({ type }) => type === 'CommitCommentEvent'))
    assert.deepEqual(faults, [])
  }
}))
