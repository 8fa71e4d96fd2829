import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine } from '#test/conversations.ts'
import { expect, type Forge, injecting } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { openWithTopic } from '#test/pulls.ts'
import { checkPayload, unneeded } from '#test/webhook-schemas.ts'
import { type Heard, heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openWithTopic)
const first = `${engine}/pulls/1`

/** The payloads of an act. Each matches the public schemas. */
async function told(forge: Forge, act: () => Promise<unknown>): Promise<Heard['payload'][]> {
  const news = await heardOf(forge, act)
  for (const { event, payload } of news) {
    assert.equal(event, 'pull_request')
    checkPayload(event, payload)
  }
  return news.map(({ payload }) => payload)
}

/** Sender, action and number, a line each. */
const lines = (news: Heard['payload'][]) =>
  news.map(({ sender, action, number, pull_request, changes, requested_reviewer, requested_team }) =>
    [
      ...[sender.login, action, number, pull_request.merged ? 'merged' : '', ...Object.keys(changes ?? {})],
      ...[requested_reviewer?.login, requested_team?.slug],
    ]
      .filter(Boolean)
      .join(' '),
  )

test('every act on a pull request is delivered once, with the state after the act', inject(async (forge) => {
  const { ada, ben, cy, work, desk, topic, main } = forge
  await hookOn(ada, 'repos/ada/engine', 'pull_request')
  const [opened, ...none] = await told(forge, () => forge.propose({ body: 'All of them' }, ben))
  assert.deepEqual(none, [])
  assert.partialDeepStrictEqual(opened, {
    action: 'opened',
    number: 1,
    pull_request: {
      url: `${forge.web}/api/v3${first}`,
      title: 'Notes',
      body: 'All of them',
      user: { login: 'ben' },
      head: { sha: topic, repo: { full_name: 'ada/engine' } },
      base: { ref: 'main', sha: main },
      ...{ merged: false, mergeable: null, mergeable_state: 'unknown', draft: false },
      ...{ commits: 1, additions: 1, deletions: 0, changed_files: 1 },
    },
    repository: { full_name: 'ada/engine' },
    sender: { login: 'ben' },
  })

  await work.push('main:refs/heads/stable')
  const edited = await told(forge, async () =>
    expect(200, await ada.patch(first, { title: 'Notes, all', base: 'stable', draft: true })),
  )
  assert.deepEqual(lines(edited), ['ada edited 1 title', 'ada edited 1 base', 'ada converted_to_draft 1'])
  assert.deepEqual(
    edited.map(({ changes }) => changes),
    [{ title: { from: 'Notes' } }, { base: { ref: { from: 'main' }, sha: { from: main } } }, undefined],
  )
  for (const { pull_request } of edited) {
    assert.partialDeepStrictEqual(pull_request, { title: 'Notes, all', base: { ref: 'stable' }, draft: true })
  }
  const failing = async () => {
    await expect(405, await ada.put(`${first}/merge`))
    await expect(422, await ada.patch(first, { title: 'Never', base: 'nowhere' }))
    await expect(422, await ada.patch(first, { title: ' ', base: 'main' }))
    await expect(403, await cy.patch(first, { draft: false }))
    await expect(422, await ben.post(`${engine}/pulls`, { title: 'Again', head: 'topic', base: 'stable' }))
    await expect(200, await ada.patch(first, { draft: true, title: 'Notes, all', base: 'stable' }))
  }
  assert.deepEqual(await told(forge, failing), [], 'what fails or changes nothing is not told')
  assert.deepEqual(lines(await told(forge, () => ada.patch(first, { draft: false }))), ['ada ready_for_review 1'])

  const other = await desk.clone(ben, 'ada/engine', '--branch', 'topic')
  const more = await other.commit('More', { 'more.txt': '1\n2\n' })
  const pushed = await told(forge, async () => {
    await other.push('topic')
    await forge.follow()
    await forge.follow()
  })
  assert.deepEqual(lines(pushed), ['ben synchronize 1'])
  assert.partialDeepStrictEqual(pushed[0], {
    before: topic,
    after: more,
    pull_request: { head: { sha: more }, commits: 2, additions: 3, changed_files: 2 },
  })

  const closed = await told(forge, () => ben.patch(first, { state: 'closed' }))
  assert.deepEqual(lines(closed), ['ben closed 1'])
  const last = await other.commit('Last', { 'last.txt': '1\n' })
  await other.push('topic')
  const reopened = await told(forge, async () => {
    await forge.follow()
    await expect(200, await ada.patch(first, { state: 'open' }))
    await forge.follow()
  })
  assert.deepEqual(lines(reopened), ['ada reopened 1', 'ada synchronize 1'])
  assert.partialDeepStrictEqual(reopened[1], { before: more, after: last, pull_request: { commits: 3 } })

  const asked = `${first}/requested_reviewers`
  const requested = await told(forge, async () => {
    await expect(201, await ben.post(asked, { reviewers: ['ada'] }))
    await expect(201, await ben.post(asked, { reviewers: ['ada', 'cy'] }))
    await expect(422, await ben.post(asked, { reviewers: ['dan'] }))
    await expect(200, await cy.delete(asked, { reviewers: ['cy', 'dan'] }))
  })
  const said = ['ben review_requested 1 ada', 'ben review_requested 1 cy', 'cy review_request_removed 1 cy']
  assert.deepEqual(lines(requested), said)
  assert.equal(requested[1].pull_request.requested_reviewers.length, 2)
  const sorted = await told(forge, () => ada.post(`${engine}/issues/1/labels`, { labels: ['bug'] }))
  assert.deepEqual(lines(sorted), ['ada labeled 1'])

  const merged = await told(forge, async () => {
    await expect(409, await ben.put(`${first}/merge`, { sha: main }))
    await expect(200, await ben.put(`${first}/merge`, { merge_method: 'squash' }))
    await forge.follow()
  })
  assert.deepEqual(lines(merged), ['ben closed 1 merged'])
  assert.partialDeepStrictEqual(merged[0].pull_request, {
    state: 'closed',
    merged_by: { login: 'ben' },
    merge_commit_sha: (await ada.read(first)).merge_commit_sha,
    base: { sha: main },
    commits: 3,
  })
}))

test('acts on pull requests by a push or a page are delivered once', inject(async (forge) => {
  const { ada, ben, work, desk, topic, main } = forge
  await hookOn(ada, 'repos/ada/engine', '*')
  await work.push('main:refs/heads/stable')
  await work.git('checkout', '--quiet', '-b', 'side', 'main')
  await work.commit('Aside', { 'side.txt': 's\n' })
  await work.push('side')
  for (const wanted of [{}, { head: 'side' }, { base: 'stable' }]) await forge.propose(wanted)
  const pulls = async (act: () => Promise<unknown>) => {
    const news = await heardOf(forge, act)
    return news.flatMap(({ event, payload }) => (event === 'pull_request' ? [payload] : []))
  }

  const other = await desk.clone(ben, 'ada/engine')
  await other.git('merge', '--quiet', '--no-ff', '-m', 'By hand', 'origin/topic')
  const by_push = await pulls(async () => {
    await other.push('main')
    await forge.follow()
    await forge.follow()
  })
  assert.deepEqual(lines(by_push), ['ben closed 1 merged'])
  const merge_commit_sha = await other.head()
  assert.partialDeepStrictEqual(by_push[0].pull_request, { merge_commit_sha, base: { sha: main }, commits: 1, additions: 1 })
  const guest = await signedIn(forge, 'ben')
  const by_page = await pulls(async () => {
    const [, sha = ''] = /name="sha" value="(\w{40})"/.exec((await guest.get('/ada/engine/pull/2')).text) ?? []
    assert.notEqual((await guest.post('/ada/engine/pull/2/merge', { method: 'merge', sha: topic })).status, 302)
    await guest.post('/ada/engine/pull/2/merge', { method: 'merge', sha })
    await forge.follow()
  })
  assert.deepEqual(lines(by_page), ['ben closed 2 merged'])
  const by_deletion = await pulls(async () => {
    await expect(204, await ben.delete(`${engine}/git/refs/heads/stable`))
    await forge.follow()
    await forge.follow()
  })
  assert.deepEqual(lines(by_deletion), ['ben closed 3'])
  for (const payload of [...by_push, ...by_page, ...by_deletion]) checkPayload('pull_request', payload)
}))

test('a pull request from a fork is delivered to hooks of the base, also when the fork and its owner are deleted', inject(async (forge) => {
  const { ada, dan, desk } = forge
  await expect(202, await dan.post(`${engine}/forks`))
  await forge.follow()
  const here = await hookOn(ada, 'repos/ada/engine', 'pull_request', 'pull_request_review', 'pull_request_review_comment')
  const there = await hookOn(dan, 'repos/dan/engine', 'pull_request')
  const work = await desk.clone(dan, 'dan/engine')
  await work.git('checkout', '--quiet', '-b', 'idea')
  await work.commit('Idea', { 'idea.txt': 'An idea.\n' })
  await work.push('idea')
  const news = await told(forge, async () => {
    await forge.propose({ head: 'dan:idea' }, dan)
    await work.commit('Better', { 'idea.txt': 'A better idea.\n' })
    await work.push('idea')
    await forge.follow()
  })
  assert.deepEqual(lines(news), ['dan opened 1', 'dan synchronize 1'])
  const ends = {
    head: { label: 'dan:idea', repo: { full_name: 'dan/engine', fork: true } },
    base: { repo: { full_name: 'ada/engine' } },
  }
  for (const { pull_request, repository } of news) {
    assert.partialDeepStrictEqual(pull_request, ends)
    assert.equal(repository.full_name, 'ada/engine')
  }
  const hooks = await forge.belfry.db.rows<{ hook_id: number }>(
    sql`select hook_id from pending_deliveries where event = 'pull_request'`,
  )
  assert.deepEqual(
    [hooks.map(({ hook_id }) => hook_id), hooks.some(({ hook_id }) => hook_id === there.id)],
    [[here.id, here.id], false],
  )
  await expect(204, await dan.delete('/repos/dan/engine'))
  await forge.belfry.db.query(sql`delete from accounts where login = 'dan'`)
  const [orphan] = await told(forge, () => ada.patch(first, { title: 'An idea' }))
  assert.partialDeepStrictEqual(orphan.pull_request, { user: { login: 'ghost' }, head: { repo: null, label: 'ghost:idea' } })
  const comment = { path: 'idea.txt', subject_type: 'file', body: 'Whose?', commit_id: orphan.pull_request.head.sha }
  const said = await heardOf(forge, async () => expect(201, await ada.post(`${first}/comments`, comment)))
  assert.equal(said.length, 2)
  for (const { event, payload } of said) checkPayload(event, payload)
  assert.deepEqual(unneeded('pull_request_review', 'pull_request_review_comment'), [])
}))

test('requested teams are delivered except secret ones, and a failed attempt delivers nothing', async () => {
  await using forge = await openWithTopic({ own_database: true })
  const { ada } = forge
  await forge.organization('acme', ada)
  await expect(202, await ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  await hookOn(ada, 'orgs/acme', 'pull_request')
  for (const [name, privacy] of Object.entries({ Core: 'closed', Hidden: 'secret' })) {
    await expect(201, await ada.post('/orgs/acme/teams', { name, privacy }))
    await expect(204, await ada.put(`/orgs/acme/teams/${name}/repos/acme/engine`, { permission: 'push' }))
  }
  // Fails the first transaction at its commit, as a concurrent transaction would.
  await forge.belfry.db.query(sql`create sequence tries`)
  await forge.belfry.db.query(sql`
    create function fail_first() returns trigger language plpgsql as $$
    begin
      if nextval('tries') = 1 then raise exception 'in the way' using errcode = 'serialization_failure'; end if;
      return null;
    end $$`)
  await forge.belfry.db.query(sql`
    create constraint trigger fail_first after insert on pulls deferrable initially deferred for each row execute function fail_first()`)
  const pulls = '/repos/acme/engine/pulls'
  const opened = await told(forge, async () =>
    expect(201, await ada.post(pulls, { title: 'Notes', head: 'topic', base: 'main' })),
  )
  assert.deepEqual(lines(opened), ['ada opened 1'])
  assert.deepEqual(await forge.belfry.db.rows(sql`select last_value from tries`), [{ last_value: 2 }])
  const asked = `${pulls}/1/requested_reviewers`
  const news = await told(forge, async () => {
    await expect(201, await ada.post(asked, { team_reviewers: ['hidden', 'core'] }))
    await expect(200, await ada.delete(asked, { team_reviewers: ['core', 'hidden'] }))
  })
  assert.deepEqual(lines(news), ['ada review_requested 1 core', 'ada review_request_removed 1 core'])
  assert.partialDeepStrictEqual(news[0], {
    requested_team: { name: 'Core', url: `${forge.web}/api/v3/orgs/acme/teams/core` },
    pull_request: { requested_teams: [{ slug: 'core' }] },
    organization: { login: 'acme' },
  })
  assert.equal(JSON.stringify(news).includes('idden'), false)
})
