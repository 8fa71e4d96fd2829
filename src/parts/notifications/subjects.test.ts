import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { type Place, shareGuild } from '#test/guild.ts'
import { inboxOf, told } from '#test/inbox.ts'
import { fanOut } from './fan-out.ts'

const forge = await shareGuild()
const { ada, ben, cy, dan, web } = forge

/** The subject of a thread, after checking that its addresses exist. */
async function subjectOf(place: Place, person = ada) {
  const { subject } = await place.thread(person)
  assert.equal((await person.get(subject.url)).status, 200, subject.url)
  assert.equal((await person.get(subject.latest_comment_url)).status, 200, subject.latest_comment_url)
  return subject
}

test('an issue and its latest comment', async () => {
  const place = await forge.place()
  const number = await place.open(ben, { title: 'It <rattles> & “hums”' })
  const [api, page] = [`${web}/api/v3${place.path}/issues`, `${web}/guild/${place.repo.repo}/issues/${number}`]
  const common = { title: 'It <rattles> & “hums”', url: `${api}/${number}`, type: 'Issue', html_url: page }
  assert.deepEqual(await subjectOf(place), { ...common, latest_comment_url: common.url, state: 'open' })
  await place.say(ben, number)
  const said = await place.say(ben, number)
  assert.deepEqual(await subjectOf(place), { ...common, latest_comment_url: `${api}/comments/${said}`, state: 'open' })
  await expect(200, await ben.patch(`${api}/${number}`, { state: 'closed', title: 'Quiet' }))
  const closed = await subjectOf(place)
  assert.deepEqual([closed.title, closed.state, closed.latest_comment_url], ['Quiet', 'closed', `${api}/comments/${said}`])
})

test('a deleted comment is no longer the latest', async () => {
  const place = await forge.place()
  const number = await place.open(ben)
  const said = await place.say(ben, number)
  assert.match((await subjectOf(place)).latest_comment_url, new RegExp(`/issues/comments/${said}$`))
  await expect(204, await ben.delete(`${place.path}/issues/comments/${said}`))
  const { url, latest_comment_url } = await subjectOf(place)
  assert.equal(latest_comment_url, url)
})

test('an edit does not make a comment the latest', async () => {
  const place = await forge.place({ auto_init: true })
  const number = await place.open(ben)
  const [first, second] = [await place.say(ben, number), await place.say(ben, number)]
  await expect(200, await ben.patch(`${place.path}/issues/comments/${first}`, { body: '@cy' }))
  assert.match((await subjectOf(place)).latest_comment_url, new RegExp(`/issues/comments/${second}$`))
  assert.match((await subjectOf(place, cy)).latest_comment_url, new RegExp(`/issues/comments/${second}$`))
})

test('the subject follows a renamed repository', async () => {
  const place = await forge.place()
  await place.open(ben)
  const { url, repository } = await place.thread(ada)
  await expect(200, await ada.patch(place.path, { name: 'renamed' }))
  const after = await ada.read(url)
  assert.deepEqual([repository.full_name, after.repository.full_name], [`guild/${place.repo.repo}`, 'guild/renamed'])
  assert.equal(after.subject.url, `${web}/api/v3/repos/guild/renamed/issues/1`)
  assert.equal((await ada.get(after.subject.url)).status, 200)
})

test('a commit with its latest comment', async () => {
  const place = await forge.place({ auto_init: true })
  const { sha } = await ben.read(`${place.path}/commits/main`)
  const say = async () => expect(201, await ben.post(`${place.path}/commits/${sha}/comments`, { body: 'Why?' }))
  const { id } = await say()
  const api = `${web}/api/v3${place.path}`
  const subject = {
    title: 'Initial commit',
    url: `${api}/commits/${sha}`,
    latest_comment_url: `${api}/comments/${id}`,
    type: 'Commit',
    state: null,
    html_url: `${web}/guild/${place.repo.repo}/commit/${sha}`,
  }
  assert.deepEqual(await subjectOf(place), subject)
  const second = await say()
  await expect(200, await ben.patch(`${place.path}/comments/${id}`, { body: 'Why, @cy?' }))
  assert.deepEqual(await subjectOf(place), { ...subject, latest_comment_url: `${api}/comments/${second.id}` })
  await expect(204, await ben.delete(`${place.path}/comments/${second.id}`))
  assert.equal((await subjectOf(place)).latest_comment_url, subject.url)
})

test('the author of a commit has the reason author, also when only others comment', async () => {
  const place = await forge.place({ auto_init: true })
  await expect(204, await ada.delete(`${place.path}/subscription`))
  const { sha, author } = await ben.read(`${place.path}/commits/main`)
  assert.equal(author.login, 'ada')
  await expect(201, await ben.post(`${place.path}/commits/${sha}/comments`, { body: 'Why?' }))
  assert.deepEqual(await place.inbox(ada), ['Initial commit: author'])
  await expect(201, await dan.post(`${place.path}/commits/${sha}/comments`, { body: 'Because' }))
  assert.deepEqual(await place.inbox(ben), ['Initial commit: comment'])
})

test('a published release, with its tag if it has no name', async () => {
  const place = await forge.place({ auto_init: true })
  await place.watch(cy)
  const { id } = await expect(
    201,
    await ada.post(`${place.path}/releases`, { tag_name: 'v1/β', name: 'Spring', draft: true, body: '@ben' }),
  )
  assert.deepEqual(await place.inbox(cy), [])
  assert.deepEqual(await place.inbox(ben), [])
  await expect(200, await ada.patch(`${place.path}/releases/${id}`, { draft: false }))
  const url = `${web}/api/v3${place.path}/releases/${id}`
  assert.deepEqual(await subjectOf(place, cy), {
    title: 'Spring',
    url,
    latest_comment_url: url,
    type: 'Release',
    state: null,
    html_url: `${web}/guild/${place.repo.repo}/releases/tag/v1%2F%CE%B2`,
  })
  assert.deepEqual(await place.inbox(ben), ['Spring: mention'])
  await expect(200, await ada.patch(`${place.path}/releases/${id}`, { name: '' }))
  assert.equal((await subjectOf(place, cy)).title, 'v1/β')
})

test('a release that becomes a draft is hidden, and notifies again when it is published', async () => {
  const place = await forge.place({ auto_init: true })
  await place.watch(cy)
  const { id } = await expect(201, await ada.post(`${place.path}/releases`, { tag_name: 'v1' }))
  const { url } = await place.thread(cy)
  await expect(205, await cy.patch(url))
  await expect(200, await ada.patch(`${place.path}/releases/${id}`, { draft: true, name: 'Secret plans' }))
  assert.deepEqual(await place.inbox(cy), [])
  assert.equal((await cy.get(url)).status, 404)
  await expect(200, await ada.patch(`${place.path}/releases/${id}`, { draft: false, name: 'Plans' }))
  assert.deepEqual(await place.inbox(cy, ''), ['Plans: subscribed'])
})

test('an invitation, whose url works before and after it is accepted', async () => {
  const place = await forge.place({ private: true })
  const { id } = await expect(201, await ada.put(`${place.path}/collaborators/dan`, { permission: 'pull' }))
  const { subject, repository, reason, url } = await place.thread(dan)
  assert.equal(reason, 'subscribed')
  assert.deepEqual(subject, {
    title: `Invitation to join guild/${place.repo.repo}`,
    url: `${web}/api/v3/user/repository_invitations/${id}`,
    latest_comment_url: `${web}/api/v3/user/repository_invitations/${id}`,
    type: 'RepositoryInvitation',
    state: null,
    html_url: `${web}/guild/${place.repo.repo}/invitations`,
  })
  assert.equal(repository.full_name, `guild/${place.repo.repo}`)
  const offered = { id, permissions: 'read', inviter: { login: 'ada' }, repository: { full_name: repository.full_name } }
  assert.partialDeepStrictEqual(await dan.read(subject.url), { ...offered, accepted_at: null })
  for (const person of [ada, ben]) assert.equal((await person.get(subject.url)).status, 404)
  await expect(205, await dan.patch(url))
  await expect(204, await dan.patch(subject.url))
  assert.deepEqual(await place.inbox(dan), [`${subject.title}: invitation, read`], 'nobody is told of their own act')
  assert.partialDeepStrictEqual(await dan.read(subject.url), { ...offered, accepted_at: '2026-02-03T04:05:06Z' })
  const said = await dan.read(`${url}/reasons`)
  assert.deepEqual(
    said.map((one: { act: string; reason: string }) => `${one.act}: ${one.reason}`),
    ['accepted: invitation', 'invited: subscribed'],
  )
  assert.equal((await dan.patch(subject.url)).status, 404, 'it is accepted once')
  assert.equal((await dan.delete(subject.url)).status, 404)
  assert.deepEqual(await dan.read('/user/repository_invitations'), [])
  await expect(204, await ada.delete(`${place.path}/collaborators/dan`))
  assert.equal((await dan.get(subject.url)).status, 404, 'what is private again is not shown')
})

test('an invitation that was accepted before the fan-out has the reason too', async () => {
  await using quiet = await openForge()
  const [eve, fay] = [await quiet.person('eve'), await quiet.person('fay')]
  await eve.owns('vault')
  const { id } = await expect(201, await eve.put('/repos/eve/vault/collaborators/fay'))
  await expect(204, await fay.patch(`/user/repository_invitations/${id}`))
  const { db } = quiet.belfry
  for (const subject of await db.rows<{ id: number }>(sql`select id from notification_subjects`)) await fanOut(db, subject.id)
  assert.deepEqual(await inboxOf(fay), ['Invitation to join eve/vault: invitation'])
})

for (const hidden of [true, false]) {
  test(`an expired invitation is hidden, and a new one notifies again: ${hidden ? 'private' : 'public'}`, async () => {
    const place = await forge.place({ private: hidden })
    await expect(201, await ada.put(`${place.path}/collaborators/dan`, {}))
    const { url } = await place.thread(dan)
    forge.clock.advance(7 * 86_400_000)
    assert.equal((await dan.get(url)).status, 404)
    await expect(201, await ada.put(`${place.path}/collaborators/dan`, {}))
    assert.equal((await place.thread(dan)).url, url)
    await expect(200, await ada.put('/orgs/guild/memberships/dan', {}))
    await expect(204, await ada.delete('/orgs/guild/memberships/dan'))
    assert.equal((await dan.get(url)).status, 404, 'who leaves the organization')
  })
}

const endings: [string, (path: string, id: number) => Promise<Response>][] = [
  ['declined', (_, id) => dan.delete(`/user/repository_invitations/${id}`)],
  ['withdrawn', (path, id) => ada.delete(`${path}/invitations/${id}`)],
]
for (const [how, end] of endings) {
  test(`an invitation that is ${how} leaves no thread`, async () => {
    const place = await forge.place({ private: true })
    const { id } = await expect(201, await ada.put(`${place.path}/collaborators/dan`, {}))
    const { url } = await place.thread(dan)
    await expect(204, await end(place.path, id))
    assert.equal((await dan.get(url)).status, 404)
    await told(forge)
    const { rows } = await forge.belfry.db.pool.query('select from threads where id = $1', [url.split('/').at(-1)])
    assert.equal(rows.length, 0)
  })
}
