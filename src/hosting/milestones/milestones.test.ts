import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine, openWithEngine, repo } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'

const inject = injecting(openWithEngine)

test('octokit creates, reads, closes and deletes a milestone', inject(async (forge) => {
  for (const [index, baseUrl] of [`${forge.web}/api/v3`, forge.versioned].entries()) {
    const { issues } = new Octokit({ baseUrl, auth: forge.ada.token })
    const number = index + 1
    const one = { ...repo, milestone_number: number }
    const made = await issues.createMilestone({
      ...repo,
      title: 'One',
      description: 'First',
      due_on: '2026-03-01T08:00:00+01:00',
    })
    const url = `${baseUrl}${engine}/milestones/${number}`
    assert.equal(made.headers.location, url)
    assert.partialDeepStrictEqual(made.data, {
      url,
      labels_url: `${url}/labels`,
      html_url: `${forge.web}/ada/engine/milestone/${number}`,
      number,
      title: 'One',
      description: 'First',
      state: 'open',
      creator: { login: 'ada' },
      due_on: '2026-03-01T07:00:00Z',
      closed_at: null,
      open_issues: 0,
      closed_issues: 0,
    })
    const issue = await forge.open({ milestone: number, labels: ['bug'] })
    assert.equal((await issues.getMilestone(one)).data.open_issues, 1)
    assert.deepEqual((await issues.listLabelsForMilestone(one)).data[0]?.name, 'bug')
    const closed = await issues.updateMilestone({ ...one, state: 'closed', description: '' })
    assert.partialDeepStrictEqual(closed.data, {
      title: 'One',
      state: 'closed',
      closed_at: '2026-02-03T04:05:06Z',
      description: '',
    })
    assert.deepEqual((await issues.listMilestones(repo)).data, [])
    assert.deepEqual((await issues.listMilestones({ ...repo, state: 'all' })).data, [closed.data])
    assert.equal((await issues.deleteMilestone(one)).status, 204)
    await assert.rejects(issues.getMilestone(one), { status: 404 })
    assert.equal((await issues.get({ ...repo, issue_number: issue.number })).data.milestone, null)
  }
}))

test('milestones sort by due date or completeness', inject(async ({ ada, nobody, open }) => {
  for (const [title, due_on] of Object.entries({ a: null, b: '2026-05-01T00:00:00Z', c: '2026-04-01T00:00:00Z' })) {
    await expect(201, await ada.post(`${engine}/milestones`, { title, due_on }))
  }
  for (const [milestone, state] of [
    [1, 'closed'],
    [2, 'open'],
    [3, 'closed'],
    [3, 'open'],
  ] as const) {
    const { number } = await open({ milestone })
    await expect(200, await ada.patch(`${engine}/issues/${number}`, { state }))
  }
  for (const [query, titles] of [
    ['', 'cba'],
    ['?direction=desc', 'bca'],
    ['?sort=completeness', 'bca'],
    ['?sort=completeness&direction=desc', 'acb'],
    ['?state=closed', ''],
    ['?per_page=1&page=2', 'b'],
  ] as const) {
    const shown = await nobody.read(`${engine}/milestones${query}`)
    assert.equal(shown.map(({ title }: { title: string }) => title).join(''), titles, query)
  }
}))

test('milestones need push access and a unique title', inject(async ({ ada, cy, nobody }) => {
  const path = `${engine}/milestones`
  for (const wrong of [
    {},
    { title: ' ' },
    { title: 7 },
    { title: 'x', due_on: 'soon' },
    { title: 'x', due_on: '2026-13-01' },
    { title: 'x', state: 'x' },
  ]) {
    assert.equal((await ada.post(path, wrong)).status, 422, JSON.stringify(wrong))
  }
  assert.equal((await expect(201, await ada.post(path, { title: 'x' }))).number, 1, 'what was refused took no number')
  const taken = await expect(422, await ada.post(path, { title: 'x' }))
  assert.partialDeepStrictEqual(taken.errors, [{ resource: 'Milestone', code: 'already_exists', field: 'title' }])
  for (const who of [nobody, cy]) {
    const status = who === nobody ? 401 : 403
    assert.equal((await who.post(path, { title: 'y' })).status, status)
    assert.equal((await who.patch(`${path}/1`, { title: 'y' })).status, status)
    assert.equal((await who.delete(`${path}/1`)).status, status)
  }
  for (const number of ['2', 'x', '0', '9'.repeat(30)]) assert.equal((await ada.get(`${path}/${number}`)).status, 404)
}))

test('a milestone’s counts are exact after concurrent moves and closes', inject(async ({ ada, open, belfry }) => {
  for (const title of ['a', 'b']) await expect(201, await ada.post(`${engine}/milestones`, { title }))
  for (let n = 0; n < 6; n++) await open({ milestone: 1 })
  const changes = Array.from({ length: 36 }, (_, n) => ({
    milestone: [1, 2, null][n % 3] ?? null,
    state: n % 2 ? 'closed' : 'open',
  }))
  const answers = await Promise.all(changes.map((body, n) => ada.patch(`${engine}/issues/${((n * 7) % 6) + 1}`, body)))
  for (const { status } of answers) assert.equal(status, 200)
  const wrong = await belfry.db.rows(sql`
    select number from milestones m where open_issues <> (select count(*) from issues where milestone_id = m.id and state = 'open')
      or closed_issues <> (select count(*) from issues where milestone_id = m.id and state = 'closed')`)
  assert.deepEqual(wrong, [])
  await expect(204, await ada.delete(`${engine}/milestones/1`))
  await expect(204, await ada.delete(engine))
}))
