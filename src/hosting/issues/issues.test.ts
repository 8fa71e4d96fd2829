import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine, issueEvents, openWithEngine, repo } from '#test/conversations.ts'
import { errorsOf, expect, injecting, type Person } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'

const inject = injecting(openWithEngine)

for (const variant of ['self-hosted', 'versioned'] as const) {
  test(`octokit opens, finds, changes, closes and reopens an issue on the ${variant} variant`, inject(async (forge) => {
    const baseUrl = variant === 'versioned' ? forge.versioned : `${forge.web}/api/v3`
    const { issues } = new Octokit({ baseUrl, auth: forge.ada.token })
    await issues.createMilestone({ ...repo, title: 'One' })
    const made = await issues.create({
      ...repo,
      title: 'Smoke',
      body: 'There is *smoke*.',
      labels: ['bug', { name: 'Hot' }],
      assignees: ['BEN'],
      milestone: 1,
    })
    assert.equal(made.status, 201)
    const url = `${baseUrl}${engine}/issues/1`
    assert.equal(made.headers.location, url)
    assert.partialDeepStrictEqual(made.data, {
      url,
      repository_url: `${baseUrl}${engine}`,
      labels_url: `${url}/labels{/name}`,
      html_url: `${forge.web}/ada/engine/issues/1`,
      number: 1,
      title: 'Smoke',
      body: 'There is *smoke*.',
      state: 'open',
      state_reason: null,
      user: { login: 'ada' },
      author_association: 'OWNER',
      labels: [
        { name: 'bug', color: 'ededed' },
        { name: 'Hot', color: 'ededed' },
      ],
      assignee: { login: 'ben' },
      assignees: [{ login: 'ben' }],
      milestone: { number: 1, title: 'One', open_issues: 1, creator: { login: 'ada' } },
      locked: false,
      active_lock_reason: null,
      comments: 0,
      created_at: '2026-02-03T04:05:06Z',
      updated_at: '2026-02-03T04:05:06Z',
      closed_at: null,
      closed_by: null,
    })
    assert.deepEqual((await issues.get({ ...repo, issue_number: 1 })).data, made.data)
    assert.deepEqual((await issues.listForRepo(repo)).data, [made.data])
    assert.equal((await forge.nobody.read(engine)).open_issues_count, 1)
    forge.clock.advance(60_000)
    const closed = await issues.update({ ...repo, issue_number: 1, state: 'closed', state_reason: 'not_planned', body: null })
    assert.partialDeepStrictEqual(closed.data, {
      title: 'Smoke',
      body: null,
      state: 'closed',
      state_reason: 'not_planned',
      closed_at: '2026-02-03T04:06:06Z',
      updated_at: '2026-02-03T04:06:06Z',
      closed_by: { login: 'ada' },
      milestone: { open_issues: 0, closed_issues: 1 },
    })
    assert.deepEqual((await issues.listForRepo(repo)).data, [])
    assert.equal((await forge.nobody.read(engine)).open_issues_count, 0)
    await issues.update({ ...repo, issue_number: 1, state: 'closed' })
    const opened = await issues.update({
      ...repo,
      issue_number: 1,
      state: 'open',
      labels: ['bug', 'new'],
      assignees: [],
      milestone: null,
    })
    assert.partialDeepStrictEqual(opened.data, {
      state_reason: 'reopened',
      closed_at: null,
      closed_by: null,
      assignees: [],
      milestone: null,
    })
    assert.deepEqual((await issues.getMilestone({ ...repo, milestone_number: 1 })).data.closed_issues, 0)
    assert.deepEqual(await issueEvents(forge), [
      'ada opened',
      'ada assigned ben',
      'ada labeled bug',
      'ada labeled Hot',
      'ada closed',
      'ada reopened',
      'ada unassigned ben',
      'ada unlabeled Hot',
      'ada labeled new',
    ])
  }))
}

test('the newest version has no single assignee', inject(async ({ open, ada }) => {
  await open({ assignee: 'ben' })
  const shown = await ada.versioned.with({ 'x-github-api-version': '2026-03-10' }).read(`${engine}/issues/1`)
  assert.equal('assignee' in shown, false)
  assert.equal(shown.assignees[0].login, 'ben')
  assert.equal((await ada.read(`${engine}/issues/1`)).assignee.login, 'ben')
}))

test('thirty issues opened concurrently get the numbers 1 to 30, and every count is exact', inject(async (forge) => {
  const bodies = Array.from({ length: 40 }, (_, index) => ({ title: index % 4 === 3 ? ' ' : `No ${index}`, labels: ['a', 'b'] }))
  const answers = await Promise.all(bodies.map((body) => forge.ada.post(`${engine}/issues`, body)))
  const made = await Promise.all(answers.filter(({ status }) => status === 201).map((answer) => expect(201, answer)))
  assert.equal(made.length, 30)
  assert.deepEqual(
    made.map(({ number }) => number).sort((one, other) => one - other),
    Array.from({ length: 30 }, (_, index) => index + 1),
  )
  const changes = Array.from({ length: 30 }, (_, index) =>
    forge.ada.patch(`${engine}/issues/${(index % 15) + 1}`, { state: index % 3 ? 'closed' : 'open' }),
  )
  for (const { status } of await Promise.all(changes)) assert.equal(status, 200)
  const said = await Promise.all(
    Array.from({ length: 20 }, () => forge.ben.post(`${engine}/issues/1/comments`, { body: 'Me too' })),
  )
  await Promise.all(said.slice(0, 5).map(async (answer) => forge.ben.delete((await expect(201, answer)).url)))
  const [counted] = await forge.belfry.db.rows(sql`
    select r.open_issues_count as told, (select count(*) from issues where repo_id = r.id and state = 'open') as open
    from repositories r where r.id = ${forge.id}`)
  assert.equal(counted?.told, counted?.open)
  assert.equal((await forge.ada.read(`${engine}/issues?state=open&per_page=100`)).length, counted?.open)
  assert.equal((await forge.ada.read(`${engine}/issues/1`)).comments, 15)
  const names = (await forge.ada.read(`${engine}/labels`)).map(({ name }: { name: string }) => name)
  assert.deepEqual(names, ['a', 'b'], 'a label that many make at once is made once')
  const moved = await forge.belfry.db.rows(sql`
    select i.number from issues i join events e on e.type = 'IssuesEvent' and (e.payload->>'issue_id')::bigint = i.id group by i.id
    having count(*) filter (where e.payload->>'action' = 'closed') - count(*) filter (where e.payload->>'action' = 'reopened')
      <> (i.state = 'closed')::integer`)
  assert.deepEqual(moved, [], 'closed and reopened by turns')
}))

test('a user without access opens issues and edits their own, but cannot triage', inject(async ({ forge, ada, dan }) => {
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'One' }))
  const made = await forge.open({ labels: ['bug'], assignees: ['ben'], milestone: 1 }, dan)
  assert.partialDeepStrictEqual(made, { labels: [], assignees: [], milestone: null, author_association: 'NONE' })
  assert.deepEqual(await ada.read(`${engine}/labels`), [])
  const changed = await expect(200, await dan.patch(`${engine}/issues/1`, { title: 'Fire', state: 'closed', labels: ['bug'] }))
  assert.partialDeepStrictEqual(changed, { title: 'Fire', state: 'closed', labels: [], closed_by: { login: 'dan' } })
  await forge.open()
  for (const body of [{ title: 'Mine' }, { state: 'closed' }, { labels: [] }, {}]) {
    assert.equal((await dan.patch(`${engine}/issues/2`, body)).status, 403, JSON.stringify(body))
  }
  assert.equal((await dan.post(`${engine}/issues/1/labels`, { labels: ['bug'] })).status, 403)
  assert.equal((await dan.post(`${engine}/issues/1/assignees`, { assignees: ['ben'] })).status, 403)
  assert.equal((await dan.put(`${engine}/issues/1/lock`)).status, 403)
  assert.deepEqual(await issueEvents(forge), ['dan opened', 'dan closed', 'ada opened'])
}))

test('triage access allows closing and labelling, but not editing', inject(async ({ forge, ada, cy }) => {
  await expect(201, await ada.post(`${engine}/labels`, { name: 'bug' }))
  await forge.open()
  const sorted = await expect(200, await cy.patch(`${engine}/issues/1`, { state: 'closed', labels: ['BUG'], assignees: ['cy'] }))
  assert.partialDeepStrictEqual(sorted, { state: 'closed', labels: [{ name: 'bug' }], assignees: [{ login: 'cy' }] })
  assert.equal((await cy.patch(`${engine}/issues/1`, { title: 'Mine' })).status, 403)
  const fault = await expect(422, await cy.patch(`${engine}/issues/1`, { labels: ['unheard of'] }))
  assert.partialDeepStrictEqual(fault.errors, [{ resource: 'Label', code: 'missing' }])
  assert.equal((await cy.post(`${engine}/labels`, { name: 'x' })).status, 403)
  assert.equal((await cy.put(`${engine}/issues/1/lock`)).status, 403)
  assert.deepEqual(await issueEvents(forge), ['ada opened', 'cy closed', 'cy assigned cy', 'cy labeled bug'])
}))

test('hidden, disabled and archived issues give the documented errors', inject(async ({ forge, ada, ben, dan, nobody }) => {
  await forge.open()
  await expect(201, await ada.post(`${engine}/issues/1/comments`, { body: 'x' }))
  assert.equal((await nobody.post(`${engine}/issues`, { title: 'x' })).status, 401)
  assert.equal((await (await forge.tokenFor('ada', ['gist'])).post(`${engine}/issues`, { title: 'x' })).status, 403)
  for (const path of ['2', '0', 'x', '-1', '99999999999999999999', '1/comments/1', '%00', 'comments/9', 'comments/x']) {
    assert.equal((await nobody.get(`${engine}/issues/${path}`)).status, 404, path)
  }
  const [comment] = await nobody.read(`${engine}/issues/comments`)
  const reads = [
    'issues',
    'issues/1',
    'issues/1/comments',
    'issues/comments',
    `issues/comments/${comment.id}`,
    'issues/1/labels',
    'milestones',
  ]
  const writes: ['post' | 'patch' | 'put' | 'delete', string, Record<string, unknown>?][] = [
    ['post', 'issues', { title: 'x' }],
    ['patch', 'issues/1', { title: 'x' }],
    ['put', 'issues/1/lock'],
    ['delete', 'issues/1/lock'],
    ['post', 'issues/1/comments', { body: 'x' }],
    ['patch', `issues/comments/${comment.id}`, { body: 'x' }],
    ['delete', `issues/comments/${comment.id}`],
    ['post', 'issues/1/assignees', { assignees: [] }],
    ['delete', 'issues/1/assignees', { assignees: [] }],
    ['post', 'issues/1/labels', { labels: ['x'] }],
    ['put', 'issues/1/labels', { labels: ['x'] }],
    ['delete', 'issues/1/labels'],
    ['post', 'milestones', { title: 'x' }],
  ]
  const statuses = async (who: Person) => {
    const found = new Set<number>()
    for (const path of reads) found.add((await who.get(`${engine}/${path}`)).status)
    for (const [method, path, body] of writes) found.add((await who[method](`${engine}/${path}`, body)).status)
    return [...found]
  }
  await expect(200, await ada.patch(engine, { has_issues: false }))
  assert.deepEqual(await statuses(ada), [410])
  assert.equal((await expect(410, await ada.get(`${engine}/issues`))).message, 'Issues are disabled for this repo')
  await expect(200, await ada.patch(engine, { has_issues: true, archived: true }))
  assert.deepEqual(await statuses(ada), [200, 403])
  await expect(200, await ada.patch(engine, { archived: false, private: true }))
  assert.deepEqual(await statuses(dan), [404])
  assert.deepEqual(await statuses(await forge.tokenFor('ada', ['public_repo'])), [404])
  await ben.read(`${engine}/issues/1`)
  assert.equal((await forge.ada.read(`${engine}/issues/1`)).title, 'Smoke')
}))

test('an invalid issue is refused, and uses no number', inject(async ({ forge, ada }) => {
  for (const wrong of [
    {},
    { title: '' },
    { title: null },
    { title: [] },
    { title: 'x'.repeat(257) },
    { title: 'x', body: 7 },
    { title: 'x', body: 'x'.repeat(65_537) },
    { title: 'x', labels: 'bug' },
    { title: 'x', labels: [7] },
    { title: 'x', labels: [{}] },
    { title: 'x', labels: [''] },
    { title: 'x', labels: ['x'.repeat(51)] },
    { title: 'x', assignees: ['dan'] },
    { title: 'x', assignees: ['nobody at all'] },
    { title: 'x', assignees: 'ada' },
    { title: 'x', milestone: 1 },
    { title: 'x', milestone: 'one' },
    { title: 'x', milestone: 99_999_999_999 },
  ]) {
    assert.equal((await ada.post(`${engine}/issues`, wrong)).status, 422, JSON.stringify(wrong).slice(0, 60))
  }
  const missing = await expect(422, await ada.post(`${engine}/issues`, { title: ' ' }))
  assert.partialDeepStrictEqual(missing.errors, [{ resource: 'Issue', code: 'missing_field', field: 'title' }])
  assert.equal((await forge.open({ title: 12, milestone: '' })).number, 1)
  for (const wrong of [{ state: 'gone' }, { state_reason: 'bored' }, { title: '' }, { milestone: 4 }, { assignees: ['dan'] }]) {
    assert.equal((await ada.patch(`${engine}/issues/1`, wrong)).status, 422, JSON.stringify(wrong))
  }
  assert.equal((await ada.put(`${engine}/issues/1/lock`, { lock_reason: 'boring' })).status, 422)
  assert.deepEqual(await issueEvents(forge), ['ada opened'])
  assert.deepEqual(errorsOf(forge), [])
}))
