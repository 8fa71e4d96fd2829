import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, openWithEngine, repo } from '#test/conversations.ts'
import { expect, injecting, type Person } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'

const inject = injecting(openWithEngine)
const on = `${engine}/issues/1/comments`

test('octokit creates, lists, changes and deletes comments', inject(async ({ open, web, versioned, dan, clock }) => {
  await open()
  for (const baseUrl of [`${web}/api/v3`, versioned]) {
    const { issues } = new Octokit({ baseUrl, auth: dan.token })
    clock.advance(60_000)
    const made = await issues.createComment({ ...repo, issue_number: 1, body: 'I see it *too*.' })
    const { id } = made.data
    assert.equal(made.headers.location, `${baseUrl}${engine}/issues/comments/${id}`)
    assert.partialDeepStrictEqual(made.data, {
      url: `${baseUrl}${engine}/issues/comments/${id}`,
      html_url: `${web}/ada/engine/issues/1#issuecomment-${id}`,
      issue_url: `${baseUrl}${engine}/issues/1`,
      user: { login: 'dan' },
      body: 'I see it *too*.',
      author_association: 'NONE',
    })
    const issue = (await issues.get({ ...repo, issue_number: 1 })).data
    assert.equal(issue.comments, 1)
    assert.equal(issue.updated_at, made.data.created_at)
    clock.advance(60_000)
    const changed = await issues.updateComment({ ...repo, comment_id: id, body: 'Or not.' })
    assert.equal(changed.data.body, 'Or not.')
    assert.notEqual(changed.data.updated_at, changed.data.created_at)
    assert.deepEqual((await issues.getComment({ ...repo, comment_id: id })).data, changed.data)
    assert.deepEqual((await issues.listComments({ ...repo, issue_number: 1 })).data, [changed.data])
    assert.deepEqual((await issues.listCommentsForRepo(repo)).data, [changed.data])
    assert.equal((await issues.deleteComment({ ...repo, comment_id: id })).status, 204)
    await assert.rejects(issues.getComment({ ...repo, comment_id: id }), { status: 404 })
    assert.equal((await issues.get({ ...repo, issue_number: 1 })).data.comments, 0)
  }
}))

test('comments can be changed by their author and with push access, through their own repository only', inject(async (forge) => {
  const { ben, cy, dan, nobody } = forge
  await forge.open()
  const { id } = await expect(201, await dan.post(on, { body: 'x' }))
  const one = `${engine}/issues/comments/${id}`
  await dan.owns('engine')
  for (const who of [nobody, cy, await forge.tokenFor('dan', ['gist'])]) {
    const status = who === nobody ? 401 : 403
    assert.equal((await who.patch(one, { body: 'y' })).status, status)
    assert.equal((await who.delete(one)).status, status)
  }
  assert.equal((await dan.get(`/repos/dan/engine/issues/comments/${id}`)).status, 404)
  assert.equal((await dan.delete(`/repos/dan/engine/issues/comments/${id}`)).status, 404)
  await expect(200, await ben.patch(one, { body: 'y' }))
  for (const wrong of [{}, { body: '' }, { body: ' \n' }, { body: 7 }, { body: null }, { body: 'x'.repeat(65_537) }]) {
    assert.equal((await dan.post(on, wrong)).status, 422)
    assert.equal((await dan.patch(one, wrong)).status, 422)
  }
  assert.equal((await dan.post(`${engine}/issues/2/comments`, { body: 'x' })).status, 404)
  await expect(204, await ben.delete(one))
  assert.equal((await ben.delete(one)).status, 404)
}))

test('a locked issue accepts comments with push access only', inject(async ({ ada, ben, cy, dan, open }) => {
  await open({}, dan)
  await expect(204, await ben.put(`${engine}/issues/1/lock`, { lock_reason: 'too heated' }))
  assert.partialDeepStrictEqual(await dan.read(`${engine}/issues/1`), { locked: true, active_lock_reason: 'too heated' })
  const refused = await expect(403, await dan.post(on, { body: 'But' }))
  assert.equal(refused.message, 'Unable to create comment because issue is locked.')
  assert.equal((await cy.post(on, { body: 'But' })).status, 403)
  await expect(201, await ben.post(on, { body: 'Enough.' }))
  await expect(204, await ada.put(`${engine}/issues/1/lock`))
  assert.partialDeepStrictEqual(await dan.read(`${engine}/issues/1`), { locked: true, active_lock_reason: null, comments: 1 })
  assert.equal((await dan.delete(`${engine}/issues/1/lock`)).status, 403)
  await expect(204, await ada.delete(`${engine}/issues/1/lock`))
  await expect(201, await dan.post(on, { body: 'Sorry.' }))
  assert.equal((await ada.put(`${engine}/issues/2/lock`)).status, 404)
}))

test('lists of comments sort and filter by creation and update time', inject(async ({ open, dan, clock, nobody }) => {
  await open()
  await open()
  const ids: number[] = []
  for (const [number, body] of [
    [1, 'a'],
    [2, 'b'],
    [1, 'c'],
  ]) {
    ids.push((await expect(201, await dan.post(`${engine}/issues/${number}/comments`, { body }))).id)
    clock.advance(60_000)
  }
  await expect(200, await dan.patch(`${engine}/issues/comments/${ids[0]}`, { body: 'A' }))
  const said = async (path: string) =>
    (await nobody.read(`${engine}/issues${path}`)).map(({ body }: { body: string }) => body).join('')
  for (const [path, bodies] of [
    ['/1/comments', 'Ac'],
    ['/1/comments?since=2026-02-03T04:08:00Z', 'A'],
    ['/1/comments?per_page=1&page=2', 'c'],
    ['/comments', 'Abc'],
    ['/comments?direction=desc', 'cbA'],
    ['/comments?sort=updated', 'bcA'],
    ['/comments?sort=updated&direction=desc', 'Acb'],
    ['/comments?since=2026-02-03T04:07:00Z', 'Ac'],
  ] as const) {
    assert.equal(await said(path), bodies, path)
  }
}))

test('the author association is shown, but not a private membership', inject(async ({ ada, ben, dan, organization, open }) => {
  await organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans' }))
  await expect(201, await ada.post('/repos/acme/plans/issues', { title: 'x' }))
  const say = async (who: Person, path: string) =>
    (await expect(201, await who.post(`${path}/issues/1/comments`, { body: 'x' }))).author_association
  assert.equal(await say(ben, '/repos/acme/plans'), 'NONE')
  await expect(204, await ben.put('/orgs/acme/public_members/ben'))
  assert.equal(await say(ben, '/repos/acme/plans'), 'MEMBER')
  await open()
  assert.deepEqual([await say(ada, engine), await say(ben, engine), await say(dan, engine)], ['OWNER', 'COLLABORATOR', 'NONE'])
}))
