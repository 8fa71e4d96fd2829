import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '#platform/migrate.ts'
import { engine, openWithEngine } from '#test/conversations.ts'
import { subscribe } from '#test/feeds.ts'
import { type Client, expect, type Forge, pick } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'
import { openWithPull, pull } from '#test/reviews.ts'

// biome-ignore lint/suspicious/noExplicitAny: a payload differs for each type of event
type Payload = any

/** The payloads of the repository's events of one type, oldest first. */
async function payloads(client: Client, type: string): Promise<Payload[]> {
  const events: { type: string; payload: Payload }[] = await client.read(`${engine}/events`)
  return events
    .filter((event) => event.type === type)
    .map(({ payload }) => payload)
    .reverse()
}

const both = ({ nobody, nobodyVersioned }: Forge) => [nobody, nobodyVersioned]

test('events of an issue keep its state, title, labels, assignees, milestone and counters', async () => {
  await using forge = await openWithEngine()
  const { ada, ben, dan } = forge
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'First' }))
  await forge.open({ labels: ['bug'], assignees: ['ben'], milestone: 1 })
  await expect(200, await ben.patch(`${engine}/issues/1`, { state: 'closed', state_reason: 'not_planned' }))
  const { id } = await expect(201, await dan.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  await expect(200, await ada.patch(`${engine}/issues/1`, { title: 'Fire', state: 'open', assignees: ['cy'], labels: [] }))
  await expect(200, await ada.patch(`${engine}/issues/1`, { milestone: null }))
  await expect(200, await ada.patch(`${engine}/milestones/1`, { title: 'Second' }))
  await expect(200, await ada.patch(`${engine}/labels/bug`, { new_name: 'defect', color: '123456' }))
  await expect(201, await dan.post(`${engine}/issues/1/comments`, { body: 'Hm again' }))
  for (const client of both(forge)) {
    const [opened, assigned, labeled, closed, reopened, unassigned] = await payloads(client, 'IssuesEvent')
    for (const { issue } of [opened, closed]) {
      assert.equal(issue.title, 'Smoke')
      assert.equal(issue.milestone.title, 'First')
      assert.deepEqual([issue.labels[0].name, issue.labels[0].color, issue.assignees[0].login], ['bug', 'ededed', 'ben'])
    }
    assert.partialDeepStrictEqual(opened.issue, {
      state: 'open',
      state_reason: null,
      closed_at: null,
      closed_by: null,
      comments: 0,
    })
    assert.partialDeepStrictEqual(closed, {
      action: 'closed',
      issue: { state: 'closed', state_reason: 'not_planned', comments: 0 },
    })
    assert.equal(closed.issue.closed_by.login, 'ben')
    assert.equal(closed.issue.closed_at, closed.issue.updated_at)
    assert.partialDeepStrictEqual(reopened.issue, {
      title: 'Fire',
      state: 'open',
      state_reason: 'reopened',
      comments: 1,
      labels: [],
    })
    assert.deepEqual([assigned.assignee.login, labeled.label.name, unassigned.assignee.login], ['ben', 'bug', 'ben'])
    const [first, second] = await payloads(client, 'IssueCommentEvent')
    assert.partialDeepStrictEqual(first, {
      issue: { state: 'closed', title: 'Smoke', comments: 1 },
      comment: { body: 'Hm', id },
    })
    assert.partialDeepStrictEqual(second.issue, { state: 'open', title: 'Fire', comments: 2, milestone: null })
  }
})

test('right after an act, its event shows what the API shows', async () => {
  await using forge = await openWithPull()
  const { ada, ben, cy, dan, nobody, nobodyVersioned } = forge
  const settings = { description: 'Computes', homepage: 'https://example.com', has_wiki: false, allow_squash_merge: false }
  await expect(200, await ada.patch(engine, settings))
  await expect(204, await dan.put(`/user/starred/ada/engine`))
  await expect(
    201,
    await ada.post(`${engine}/milestones`, { title: 'First', description: 'Soon', due_on: '2027-01-01T00:00:00Z' }),
  )
  await expect(201, await ada.post(`${engine}/labels`, { name: 'slow', color: '123456', description: 'Takes long' }))
  const sorted = { labels: ['slow', 'bug'], assignees: ['ben', 'cy'], milestone: 1 }
  const last = async (type: string, client = nobody) => (await payloads(client, type)).at(-1)
  const same = async (name: string, path: string, type: string) => {
    for (const client of [nobody, nobodyVersioned]) {
      const { permissions, reactions, ...shown } = await client.read(path)
      const found = (await last(type, client))[name]
      assert.partialDeepStrictEqual(found, shown, name)
    }
  }
  await forge.open({ ...sorted, body: 'Black' })
  await expect(204, await ada.put(`${engine}/issues/2/lock`, { lock_reason: 'spam' }))
  await expect(200, await ben.patch(`${engine}/issues/2`, { state: 'closed', state_reason: 'not_planned' }))
  await same('issue', `${engine}/issues/2`, 'IssuesEvent')
  const made = async (status: number, answer: Promise<Response>): Promise<number> => (await expect(status, await answer)).id
  const on_file = { body: 'Hm', path: 'mill.txt', position: 1 }
  const on_commit = await made(201, cy.post(`${engine}/commits/${forge.head}/comments`, on_file))
  await same('comment', `${engine}/comments/${on_commit}`, 'CommitCommentEvent')
  const on_issue = await made(201, dan.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  await same('issue', `${engine}/issues/1`, 'IssueCommentEvent')
  await same('comment', `${engine}/issues/comments/${on_issue}`, 'IssueCommentEvent')
  await expect(201, await ben.post(`${pull}/requested_reviewers`, { reviewers: ['cy'] }))
  const review = await made(200, ada.post(`${pull}/reviews`, { event: 'REQUEST_CHANGES', body: 'Finer' }))
  await same('review', `${pull}/reviews/${review}`, 'PullRequestReviewEvent')
  const line = { body: 'x', path: 'mill.txt', line: 2, side: 'RIGHT', commit_id: forge.head }
  const on_line = await made(201, dan.post(`${pull}/comments`, line))
  await same('comment', `${engine}/pulls/comments/${on_line}`, 'PullRequestReviewCommentEvent')
  await expect(200, await ada.patch(`${engine}/issues/1`, { ...sorted, state: 'closed' }))
  const { pull_request } = await last('PullRequestEvent')
  const shown = await nobody.read(pull)
  for (const { repo } of [shown.head, shown.base]) delete repo.permissions
  assert.deepEqual(pull_request, shown)
  const notes = { tag_name: 'v/1', target_commitish: 'main', name: 'One', body: 'Notes' }
  const release = await made(201, ada.post(`${engine}/releases`, notes))
  await same('release', `${engine}/releases/${release}`, 'ReleaseEvent')
  await expect(202, await dan.post(`${engine}/forks`))
  const [{ forkee }] = await payloads(nobody, 'ForkEvent')
  const { parent, source, network_count, permissions: _, ...fork } = await nobody.read('/repos/dan/engine')
  assert.deepEqual(forkee, { ...fork, public: true })
})

test('events of a pull request keep its head, counters and whether it is merged', async () => {
  await using forge = await openWithTopic()
  const { ada, work, topic } = forge
  await forge.propose()
  const head = await work.commit('Add more', { 'more.txt': 'More.\nAnd more.\n' })
  await work.push('topic')
  await forge.follow()
  await expect(200, await ada.patch(`${engine}/issues/1`, { title: 'Many notes', labels: ['bug'] }))
  await expect(200, await ada.put(`${engine}/pulls/1/merge`))
  const [opened, labeled, closed] = await payloads(forge.nobody, 'PullRequestEvent')
  const before = {
    title: 'Notes',
    state: 'open',
    merged: false,
    merged_at: null,
    commits: 1,
    additions: 1,
    changed_files: 1,
    labels: [],
  }
  assert.partialDeepStrictEqual(opened, { action: 'opened', number: 1, pull_request: before })
  assert.equal(opened.pull_request.head.sha, topic)
  assert.partialDeepStrictEqual(labeled.pull_request, { title: 'Many notes', merged: false, state: 'open' })
  const after = { title: 'Many notes', state: 'closed', merged: true, commits: 2, additions: 3, changed_files: 2 }
  assert.partialDeepStrictEqual(closed, { action: 'closed', pull_request: after })
  assert.equal(closed.pull_request.merged_by.login, 'ada')
  assert.equal(closed.pull_request.labels[0].name, 'bug')
  const versioned = await payloads(forge.nobodyVersioned, 'PullRequestEvent')
  assert.deepEqual(
    versioned.map(({ action, pull_request }) => [action, pull_request.head.sha]),
    [
      ['opened', topic],
      ['labeled', head],
      ['merged', head],
    ],
  )
})

test('an event shows a repository as it was at the act, by its current name', async () => {
  await using forge = await openWithTopic()
  const { ada, ben, dan, nobody } = forge
  await expect(202, await ben.post(`${engine}/forks`))
  await forge.propose()
  await expect(200, await ben.patch('/repos/ben/engine', { name: 'motor', description: 'Mine' }))
  for (const path of ['ada/engine', 'ben/motor']) await expect(204, await dan.put(`/user/starred/${path}`))
  await expect(200, await ada.patch(engine, { description: 'Ours', has_wiki: false }))
  const [{ forkee }] = await payloads(nobody, 'ForkEvent')
  assert.partialDeepStrictEqual(forkee, { full_name: 'ben/motor', description: null, stargazers_count: 0, fork: true })
  const [{ pull_request }] = await payloads(nobody, 'PullRequestEvent')
  for (const { repo } of [pull_request.base, pull_request.head]) {
    assert.partialDeepStrictEqual(repo, { full_name: 'ada/engine', description: null, stargazers_count: 0, has_wiki: true })
  }
})

test('the repository that a pull request comes from is shown only if it was public at the act and still is', async () => {
  await using forge = await openWithTopic()
  const { ada, ben, nobody } = forge
  await expect(202, await ben.post(`${engine}/forks`))
  await forge.follow()
  await forge.propose({ head: 'ben:topic' }, ben)
  const headRepo = async () =>
    (await payloads(nobody, 'PullRequestEvent')).map(({ pull_request }) => pull_request.head.repo?.full_name)
  assert.deepEqual(await headRepo(), ['ben/engine'])
  await expect(200, await ben.patch('/repos/ben/engine', { private: true }))
  await expect(200, await ada.patch(`${engine}/issues/1`, { state: 'closed' }))
  assert.deepEqual(await headRepo(), [undefined, undefined])
  await expect(200, await ben.patch('/repos/ben/engine', { private: false }))
  assert.deepEqual(await headRepo(), ['ben/engine', undefined])
})

test('the event of a review keeps its state when the review is dismissed', async () => {
  await using forge = await openWithPull()
  const { ada } = forge
  const { id } = await expect(200, await ada.post(`${pull}/reviews`, { event: 'APPROVE', body: 'Fine' }))
  await expect(200, await ada.put(`${pull}/reviews/${id}/dismissals`, { message: 'Not fine' }))
  for (const client of both(forge)) {
    const [{ review }] = await payloads(client, 'PullRequestReviewEvent')
    assert.partialDeepStrictEqual(review, { id, state: 'APPROVED', body: 'Fine' })
  }
  assert.equal((await subscribe(`${forge.web}/ada.atom`)).titles[0], 'ada approved pull request #1 in ada/engine')
})

test('the event of a release keeps its name and tag', async () => {
  await using forge = await openWithTopic()
  const { ada } = forge
  const { url } = await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1', name: 'First', prerelease: true }))
  await expect(200, await ada.patch(url, { tag_name: 'v2', name: 'Second', prerelease: false }))
  for (const client of both(forge)) {
    const [{ release }] = await payloads(client, 'ReleaseEvent')
    assert.partialDeepStrictEqual(release, { tag_name: 'v1', name: 'First', prerelease: true, draft: false })
  }
  const { titles, text } = await subscribe(`${forge.web}/ada.atom`)
  assert.ok(titles.includes('ada published release v1 in ada/engine'))
  assert.ok(text.includes('First') && !text.includes('Second'))
})

test('a feed keeps titles and labels as they were at the act', async () => {
  await using forge = await openWithEngine()
  const { ada } = forge
  await forge.open({ labels: ['bug'] })
  await expect(200, await ada.patch(`${engine}/issues/1`, { title: 'Fire' }))
  await expect(204, await ada.delete(`${engine}/labels/bug`))
  const { titles, text } = await subscribe(`${forge.web}/ada.atom`)
  assert.equal(titles[0], 'ada added the label bug to issue #1 in ada/engine')
  assert.ok(text.includes('Smoke') && !text.includes('Fire'))
})

test('text that was edited away is in no event', async () => {
  await using forge = await openWithPull()
  const { ada, ben } = forge
  const old = { body: 'Leaked' }
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'First', description: 'Leaked' }))
  await forge.open({ ...old, milestone: 1 })
  const edited: [string, string][] = [
    [`${engine}/milestones/1`, 'patch'],
    [`${engine}/issues/2`, 'patch'],
    [pull, 'patch'],
  ]
  await expect(200, await ben.patch(pull, old))
  const made = async (answer: Promise<Response>, status = 201) => expect(status, await answer)
  const comment = await made(ada.post(`${engine}/issues/2/comments`, old))
  const review = await made(ada.post(`${pull}/reviews`, { event: 'APPROVE', ...old }), 200)
  const line = await made(ada.post(`${pull}/comments`, { ...old, path: 'mill.txt', line: 2, commit_id: forge.head }))
  const commit = await made(ada.post(`${engine}/commits/${forge.head}/comments`, old))
  const release = await made(ada.post(`${engine}/releases`, { tag_name: 'v1', target_commitish: 'main', ...old }))
  await expect(200, await ada.patch(`${engine}/issues/1`, { state: 'closed' }))
  const feed = async () => (await subscribe(`${forge.web}/ada.atom`)).text
  for (const client of both(forge)) assert.ok((await (await client.get(`${engine}/events`)).text()).includes('Leaked'))
  assert.ok((await feed()).includes('Leaked'))
  for (const [path] of edited) await expect(200, await ada.patch(path, { body: 'Clean', description: 'Clean' }))
  for (const { url } of [comment, line, commit, release]) await expect(200, await ada.patch(url, { body: 'Clean' }))
  await expect(200, await ada.put(`${pull}/reviews/${review.id}`, { body: 'Clean' }))
  for (const client of both(forge)) {
    const text = await (await client.get(`${engine}/events`)).text()
    assert.ok(text.includes('Clean') && !text.includes('Leaked'))
  }
  assert.ok(!(await feed()).includes('Leaked'))
  const { rows } = await forge.belfry.db.pool.query(`select from events where to_jsonb(events)::text ~ 'Leaked|Clean'`)
  assert.equal(rows.length, 0, 'the log holds no text')
})

test('a timeline’s ETag changes with the events, texts and names that it shows, and with nothing else', async () => {
  await using forge = await openWithTopic()
  const { ada, ben, dan } = forge
  const { db } = forge.belfry
  await expect(202, await ben.post(`${engine}/forks`))
  await forge.open({ labels: ['bug'], body: 'Black' })
  await forge.propose()
  const { url } = await expect(201, await dan.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  const clients = [...both(forge), ada, ada.versioned]
  const tags = () => Promise.all(clients.map(async (client) => (await client.get(`${engine}/events`)).headers.get('etag') ?? ''))
  const statuses = async (known: string[]) =>
    Promise.all(
      clients.map(async (client, n) => (await client.with({ 'if-none-match': known[n] ?? '' }).get(`${engine}/events`)).status),
    )
  const check = async (status: number, name: string, act: () => Promise<unknown>) => {
    const known = await tags()
    await act()
    assert.deepEqual(await statuses(known), [status, status, status, status], name)
  }
  await check(304, 'description', async () => expect(200, await ada.patch(engine, { description: 'Ours', has_wiki: false })))
  await check(304, 'star elsewhere', async () => expect(204, await dan.put('/user/starred/ben/engine')))
  await check(304, 'label', async () => expect(200, await ada.patch(`${engine}/labels/bug`, { new_name: 'defect' })))
  await check(304, 'title', async () => expect(200, await ada.patch(`${engine}/issues/1`, { title: 'Fire' })))
  await check(304, 'lock', async () => expect(204, await ada.put(`${engine}/issues/1/lock`)))
  await check(304, 'read of a pull request', async () => expect(200, await ada.get(`${engine}/pulls/2`)))
  await check(200, 'comment', async () => expect(200, await dan.patch(url, { body: 'Hm!' })))
  await check(200, 'body', async () => expect(200, await ada.patch(`${engine}/issues/1`, { body: 'White' })))
  await check(200, 'deleted comment', async () => expect(204, await dan.delete(url)))
  await check(200, 'new event', async () => expect(204, await dan.put('/user/starred/ada/engine')))
  await check(200, 'login', async () => {
    await db.pool.query(`update accounts set login = 'dora' where login = 'dan'`)
    db.notifyTransactionEnd('committed here')
  })
  await check(200, 'visibility of the fork', async () => expect(200, await ben.patch('/repos/ben/engine', { private: true })))
})

test('the migration gives facts to events that have none, from the rows as they are', async () => {
  // The migration puts back functions that later ones replaced.
  await using forge = await openWithPull({ own_database: true })
  const { ada, ben } = forge
  const { db } = forge.belfry
  await expect(200, await ada.post(`${pull}/reviews`, { event: 'APPROVE', body: 'Fine' }))
  await expect(202, await ben.post(`${engine}/forks`))
  await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1', target_commitish: 'main', name: 'First' }))
  await forge.open({ labels: ['bug'], assignees: ['ben'] })
  await expect(201, await ada.post(`${engine}/issues/2/comments`, { body: 'Hm' }))
  const read = () => Promise.all(both(forge).map((client) => client.read(`${engine}/events`)))
  await expect(200, await ada.patch(`${engine}/issues/2`, { title: 'Fire' }))
  await db.pool.query(`alter table events drop column facts; delete from migrations where name = '0024_event_records.sql'`)
  assert.deepEqual(await migrate(db), ['0024_event_records.sql'])
  db.notifyTransactionEnd('committed here')
  const filled = await read()
  const { rows } = await db.pool.query(`select type from events where facts is null group by type order by type`)
  assert.deepEqual(pick(rows, 'type'), ['CreateEvent', 'MemberEvent', 'PushEvent'])
  const [opened] = await payloads(forge.nobody, 'IssuesEvent')
  assert.partialDeepStrictEqual(opened.issue, {
    title: 'Fire',
    comments: 1,
    labels: [{ name: 'bug' }],
    assignees: [{ login: 'ben' }],
  })
  await expect(200, await ada.patch(`${engine}/issues/2`, { title: 'Ash' }))
  assert.deepEqual(await read(), filled)
})
