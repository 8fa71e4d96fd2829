import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { type Client, expect, injecting } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

interface Told {
  event: string
  actor?: { login: string }
  user?: { login: string }
  requested_reviewer?: { login: string }
  requested_team?: { slug: string }
}

const lines = (events: Told[]) =>
  events.map(({ event, actor, user, requested_reviewer, requested_team }) =>
    [(actor ?? user)?.login, event, requested_reviewer?.login, requested_team?.slug].filter(Boolean).join(' '),
  )
const history = async (who: Client, path = `${engine}/issues/1`) => lines(await who.read(`${path}/events`))

test('a merge records merged with its commit, then closed; also when a push merges', inject(async ({ forge, ada, ben, work }) => {
  await forge.propose()
  const { sha } = await expect(200, await ben.put(`${engine}/pulls/1/merge`))
  const [merged, closed] = await ada.read(`${engine}/issues/1/events`)
  assert.deepEqual([merged.event, merged.actor.login, merged.commit_id], ['merged', 'ben', sha])
  assert.equal((await ada.read(merged.commit_url)).sha, sha)
  assert.deepEqual([closed.event, closed.commit_id, closed.commit_url, closed.state_reason], ['closed', null, null, null])
  await work.git('checkout', '--quiet', '-b', 'more')
  const more = await work.commit('More', { 'more.txt': 'More\n' })
  await work.push('more')
  await forge.propose({ head: 'more' })
  await work.git('push', '--quiet', 'origin', 'more:other')
  await forge.propose({ head: 'more', base: 'topic' })
  await work.git('push', '--quiet', 'origin', 'more:topic')
  await forge.follow()
  assert.deepEqual(await history(ada, `${engine}/issues/3`), ['ada merged', 'ada closed'])
  assert.equal((await ada.read(`${engine}/issues/3/events`))[0].commit_id, more)
  await expect(200, await ada.patch(`${engine}/pulls/2`, { state: 'closed' }))
  await expect(200, await ada.patch(`${engine}/pulls/2`, { state: 'open', title: 'Newer' }))
  assert.deepEqual(await history(ada, `${engine}/issues/2`), ['ada closed', 'ada renamed', 'ada reopened'])
}))

test('deleting the base branch closes the pull request, by the user who deleted it', inject(async ({ forge, ada, ben, work }) => {
  await work.git('push', '--quiet', 'origin', 'main:base')
  await forge.propose({ base: 'base' })
  await expect(204, await ben.delete(`${engine}/git/refs/heads/base`))
  await forge.follow()
  assert.deepEqual(await history(ada), ['ben closed'])
}))

test('drafts, review requests and reviews are in order, and pending reviews are not shown', inject(async (forge) => {
  const { ada, ben, cy, clock } = forge
  const pull = `${engine}/pulls/1`
  await forge.propose({ draft: true })
  const steps = [
    () => ada.patch(pull, { draft: true }),
    () => ada.patch(pull, { draft: false }),
    () => ada.post(`${pull}/requested_reviewers`, { reviewers: ['ben'] }),
    () => ada.post(`${pull}/requested_reviewers`, { reviewers: ['ben', 'cy'] }),
    () => ben.post(`${pull}/reviews`, { event: 'APPROVE' }),
    () => ada.delete(`${pull}/requested_reviewers`, { reviewers: ['cy', 'ben'] }),
    () => ada.post(`${engine}/issues/1/comments`, { body: 'Thanks' }),
    () => cy.post(`${pull}/reviews`, { body: 'Not yet' }),
    () => ada.patch(pull, { draft: true }),
    () => ada.patch(pull, { maintainer_can_modify: true }),
  ]
  for (const step of steps) {
    clock.advance(1000)
    const answer = await step()
    assert.ok(answer.ok, await answer.text())
  }
  for (const who of [forge.nobody, cy]) {
    assert.deepEqual(lines(await who.read(`${engine}/issues/1/timeline`)), [
      'ada ready_for_review',
      'ada review_requested ben',
      'ada review_requested cy',
      'ben reviewed',
      'ada review_request_removed cy',
      'ada commented',
      'ada convert_to_draft',
    ])
  }
  const first = await cy.get(`${engine}/issues/1/timeline?per_page=1`)
  assert.match(first.headers.get('link') ?? '', /[?&]page=7>; rel="last"/, 'nor is it counted')
  const [, requested, , , last] = await ada.read(`${engine}/issues/1/events`)
  assert.equal(requested.review_requester.login, 'ada')
  assert.equal(last.event, 'convert_to_draft')
  const reviewed = (await ada.read(`${engine}/issues/1/timeline`))[3]
  assert.partialDeepStrictEqual(reviewed, { state: 'APPROVED', submitted_at: '2026-02-03T04:05:11Z', user: { login: 'ben' } })
  await expect(200, await ada.patch(engine, { has_issues: false }))
  const [{ id, issue }] = await ada.read(`${engine}/issues/events`)
  assert.equal(issue.pull_request.url, `${forge.web}/api/v3${pull}`)
  await ada.read(`${engine}/issues/events/${id}`)
  assert.equal((await history(ada)).length, 5, 'what is about a pull request goes on without issues')
}))

test('a team is named only to viewers who may see it', inject(async ({ ada, ben, nobody, propose, organization }) => {
  await propose()
  await organization('acme', ada)
  await expect(202, await ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  for (const [name, privacy] of Object.entries({ Core: 'closed', Hidden: 'secret' })) {
    await expect(201, await ada.post('/orgs/acme/teams', { name, privacy }))
    await expect(204, await ada.put(`/orgs/acme/teams/${name}/repos/acme/engine`, { permission: 'push' }))
  }
  const asked = '/repos/acme/engine/pulls/1/requested_reviewers'
  await expect(201, await ada.post(asked, { team_reviewers: ['core'] }))
  await expect(201, await ada.post(asked, { team_reviewers: ['hidden'] }))
  await expect(200, await ada.delete(asked, { team_reviewers: ['core'] }))
  const told = (core: string, hidden: string) => [
    `ada review_requested${core}`,
    `ada review_requested${hidden}`,
    `ada review_request_removed${core}`,
  ]
  const moved = '/repos/acme/engine/issues/1'
  assert.deepEqual(await history(ada, moved), told(' core', ' hidden'))
  assert.deepEqual(await history(ben, moved), told(' core', ''))
  assert.deepEqual(await history(nobody, moved), told('', ''))
  await expect(204, await ada.delete('/orgs/acme/teams/core'))
  assert.deepEqual(await history(ada, moved), told('', ' hidden'))
}))
