import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, fineGrained, repo } from '#test/conversations.ts'
import { type Client, expect, injecting } from '#test/forge.ts'
import { noticesOf } from '#test/notices.ts'
import { Octokit } from '#test/octokit.ts'
import { openWithPull, pull } from '#test/reviews.ts'

const inject = injecting(openWithPull)
const asked = `${pull}/requested_reviewers`
const here = { ...repo, pull_number: 1 }
const logins = (users: { login: string }[] | null | undefined) => (users ?? []).map(({ login }) => login).join()
const named = async (who: Client, path = asked) => {
  const { users, teams } = await who.read(path)
  return [logins(users), teams.map(({ slug }: { slug: string }) => slug).join()].filter(Boolean).join(' and ')
}

test('octokit requests reviews, lists the requests, and removes them', inject(async ({ web, versioned, cy }) => {
  for (const baseUrl of [`${web}/api/v3`, versioned]) {
    const { pulls } = new Octokit({ baseUrl, auth: cy.token })
    const made = await pulls.requestReviewers({ ...here, reviewers: ['ADA', 'cy', 'ada'] })
    assert.equal(made.status, 201)
    assert.equal(made.data.number, 1)
    assert.deepEqual(logins(made.data.requested_reviewers).split(',').toSorted(), ['ada', 'cy'])
    assert.equal((await pulls.listRequestedReviewers(here)).data.users.length, 2)
    assert.equal((await pulls.get(here)).data.requested_reviewers?.length, 2)
    const left = await pulls.removeRequestedReviewers({ ...here, reviewers: ['Cy', 'dan', 'no one'] })
    assert.equal(left.status, 200)
    assert.equal(logins(left.data.requested_reviewers), 'ada')
    assert.equal((await pulls.removeRequestedReviewers({ ...here, reviewers: ['ada'] })).data.requested_reviewers?.length, 0)
  }
}))

test('only newly requested reviewers are notified', inject(async ({ forge, ada, ben, cy }) => {
  await expect(201, await ben.post(asked, { reviewers: ['ada'] }))
  await expect(201, await ben.post(asked, { reviewers: ['ada', 'cy'] }))
  await expect(201, await ben.post(asked, { reviewers: ['cy'] }))
  await expect(201, await ben.post(asked, {}))
  const told = async () => (await noticesOf(forge)).filter((line) => line.includes('review_requested'))
  assert.deepEqual(await told(), ['ben review_requested PullRequest #1 ada', 'ben review_requested PullRequest #1 cy'])
  const { id } = await expect(200, await cy.post(`${pull}/reviews`, { body: 'Draft' }))
  assert.equal(await named(ada), 'ada,cy')
  await expect(200, await cy.post(`${pull}/reviews/${id}/events`, { event: 'APPROVE' }))
  assert.equal(await named(ada), 'ada', 'whoever has reviewed is asked no more')
  await expect(200, await ada.post(`${pull}/reviews`, { event: 'COMMENT', body: 'Hm' }))
  assert.equal(await named(ada), '')
  await expect(201, await ben.post(asked, { reviewers: ['cy'] }))
  assert.equal((await told()).length, 3, 'and can be asked again')
}))

test('reviewers need access, and cannot be the author', inject(async ({ forge, ada, ben, cy, dan, nobody }) => {
  const author = await expect(422, await ada.post(asked, { reviewers: ['Ben'] }))
  assert.equal(author.message, 'Review cannot be requested from pull request author.')
  const stranger = await expect(422, await ada.post(asked, { reviewers: ['cy', 'dan'] }))
  assert.match(stranger.message, /^Reviews may only be requested from collaborators\..*ada\/engine repository\.$/)
  await forge.organization('acme', ada)
  for (const wrong of [
    { reviewers: ['nobody'] },
    { reviewers: ['acme'] },
    { reviewers: [''] },
    { reviewers: 'cy' },
    { reviewers: [7] },
    { reviewers: [null] },
    { reviewers: Array.from({ length: 101 }, () => 'cy') },
    { reviewers: ['cy'], team_reviewers: ['core'] },
    { team_reviewers: [{}] },
  ]) {
    assert.equal((await ada.post(asked, wrong)).status, 422, JSON.stringify(wrong).slice(0, 80))
  }
  assert.equal(await named(nobody), '')
  for (const who of [
    nobody,
    dan,
    await forge.tokenFor('ada', ['gist']),
    await fineGrained(forge, 'ada', { pull_requests: 'read', issues: 'write' }),
  ]) {
    const status = who === nobody ? 401 : 403
    assert.equal((await who.post(asked, { reviewers: ['cy'] })).status, status)
    assert.equal((await who.delete(asked, { reviewers: ['cy'] })).status, status)
  }
  await expect(201, await (await fineGrained(forge, 'ada', { pull_requests: 'write' })).post(asked, { reviewers: ['cy'] }))
  assert.equal((await ben.post(`${engine}/pulls/9/requested_reviewers`, { reviewers: ['cy'] })).status, 404)
  await expect(200, await ada.patch(engine, { private: true }))
  assert.equal((await dan.get(asked)).status, 404)
  await expect(200, await ada.patch(engine, { archived: true }))
  assert.equal((await cy.post(asked, { reviewers: ['ada'] })).status, 403)
  assert.equal((await cy.delete(asked, { reviewers: ['cy'] })).status, 403)
}))

test('teams of the organization with access can be requested, if the caller may see them', inject(async (forge) => {
  const { ada, ben, cy, nobody } = forge
  await forge.organization('acme', ada)
  await expect(202, await ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  const moved = '/repos/acme/engine/pulls/1'
  for (const login of ['ben', 'cy']) await expect(200, await ada.put(`/orgs/acme/memberships/${login}`))
  for (const [name, privacy] of Object.entries({ Core: 'closed', Outside: 'closed', Hidden: 'secret' })) {
    await expect(201, await ada.post('/orgs/acme/teams', { name, privacy }))
    if (name !== 'Outside') await expect(204, await ada.put(`/orgs/acme/teams/${name}/repos/acme/engine`, { permission: 'push' }))
  }
  for (const team of ['outside', 'hidden', 'none']) {
    assert.equal((await ben.post(`${moved}/requested_reviewers`, { team_reviewers: ['core', team] })).status, 422, team)
  }
  await expect(201, await ben.post(`${moved}/requested_reviewers`, { reviewers: ['cy'], team_reviewers: ['Core', 'core'] }))
  const last = async () => (await noticesOf(forge)).at(-1)
  assert.equal(await last(), 'ben review_requested PullRequest #1 cy core')
  await expect(201, await ada.post(`${moved}/requested_reviewers`, { team_reviewers: ['core', 'hidden'] }))
  assert.equal(await last(), 'ada review_requested PullRequest #1 hidden')
  assert.equal(await named(ada, `${moved}/requested_reviewers`), 'cy and core,hidden')
  assert.equal(await named(cy, `${moved}/requested_reviewers`), 'cy and core')
  assert.equal(await named(nobody, `${moved}/requested_reviewers`), 'cy')
  const left = await expect(200, await ben.delete(`${moved}/requested_reviewers`, { team_reviewers: ['CORE', 'hidden'] }))
  assert.deepEqual(left.requested_teams, [])
  assert.equal(await named(ada, `${moved}/requested_reviewers`), 'cy and hidden')
}))
