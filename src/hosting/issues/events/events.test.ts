import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notificationTasks } from '#parts/notifications/jobs.ts'
import { sql } from '#platform/database.ts'
import { engine, fineGrained, openWithEngine, repo } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { type Client, expect, injecting, linesOf } from '#test/forge.ts'
import { runJobs } from '#test/jobs.ts'
import { Octokit } from '#test/octokit.ts'

const inject = injecting(openWithEngine)

interface Told {
  event: string
  actor: { login: string } | null
  label?: { name: string; color: string }
  assignee?: { login: string } | null
  milestone?: { title: string }
  rename?: { from: string; to: string }
}

/** Events, a line each. */
const lines = (events: Told[]) =>
  events.map(({ event, actor, label, assignee, milestone, rename }) =>
    [actor?.login ?? 'nobody', event, label?.name, assignee?.login, milestone?.title, rename && `${rename.from} to ${rename.to}`]
      .filter((word) => word !== undefined)
      .join(' '),
  )
const history = async (who: Client, number = 1) => lines(await who.read(`${engine}/issues/${number}/events`))

test('history events of an issue are in order', inject(async ({ ada, ben, cy, dan, open, nobody }) => {
  const issue = `${engine}/issues/1`
  await expect(201, await ada.post(`${engine}/labels`, { name: 'hot', color: 'ff0000' }))
  for (const title of ['One', 'Two']) await expect(201, await ada.post(`${engine}/milestones`, { title }))
  await open({ title: 'Plain' }, dan)
  assert.deepEqual(await history(dan), [], 'opening makes none')
  await expect(200, await cy.patch(issue, { milestone: 1, labels: ['hot'], assignees: ['ben'] }))
  await expect(200, await ben.patch(issue, { title: ' Plainer ', milestone: 2, state: 'closed', state_reason: 'not_planned' }))
  await expect(200, await ben.patch(issue, { title: 'Plainer', state: 'closed', body: 'More', labels: ['HOT'] }))
  await expect(200, await dan.patch(issue, { state: 'open' }))
  await expect(200, await cy.post(`${issue}/labels`, { labels: ['hot'] }))
  await expect(200, await ada.delete(`${issue}/labels/hot`))
  await expect(201, await cy.post(`${issue}/assignees`, { assignees: ['cy', 'ben'] }))
  await expect(200, await cy.delete(`${issue}/assignees`, { assignees: ['ben', 'dan'] }))
  await expect(204, await ben.put(`${issue}/lock`, { lock_reason: 'spam' }))
  await expect(204, await ben.put(`${issue}/lock`))
  await expect(204, await ada.delete(`${issue}/lock`))
  await expect(204, await ada.delete(`${issue}/lock`))
  await expect(200, await ada.patch(issue, { milestone: null }))
  assert.deepEqual(await history(nobody), [
    'cy milestoned One',
    'cy assigned ben',
    'cy labeled hot',
    'ben renamed Plain to Plainer',
    'ben demilestoned One',
    'ben milestoned Two',
    'ben closed',
    'dan reopened',
    'ada unlabeled hot',
    'cy assigned cy',
    'cy unassigned ben',
    'ben locked',
    'ada unlocked',
    'ada demilestoned Two',
  ])
  const events = await ada.read(`${issue}/events`)
  assert.deepEqual(events[2].label, { name: 'hot', color: 'ff0000' })
  assert.equal(events[1].assigner.login, 'cy')
  assert.equal(events[6].state_reason, 'not_planned')
  assert.equal(events[11].lock_reason, 'spam')
  assert.equal('issue' in events[0] || 'label' in events[0], false)
}))

test('an issue opened with labels, assignees and a milestone has events for them; a refused one has none', inject(async (forge) => {
  const { ada, open, dan } = forge
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'One' }))
  await open({ milestone: 1, assignees: ['cy', 'ben'], labels: ['a', 'b'] })
  const said = await history(ada)
  assert.deepEqual(said.slice(0, 1), ['ada milestoned One'])
  assert.deepEqual(said.slice(1, 3).toSorted(), ['ada assigned ben', 'ada assigned cy'])
  assert.deepEqual(said.slice(3).toSorted(), ['ada labeled a', 'ada labeled b'])
  await open({ labels: ['a'], assignees: ['cy'] }, dan)
  assert.deepEqual(await history(ada, 2), [], 'what is passed over did not happen')
  await expect(422, await ada.patch(`${engine}/issues/2`, { title: 'Other', state: 'closed', assignees: ['no one'] }))
  assert.deepEqual(await history(ada, 2), [])
}))

test('events keep the names of labels and milestones, and titles, as they were', inject(async ({ ada, ben, open }) => {
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'One' }))
  await expect(201, await ada.post(`${engine}/labels`, { name: 'hot', color: 'ff0000' }))
  await open({ labels: ['hot'], milestone: 1 })
  await expect(200, await ada.patch(`${engine}/labels/hot`, { new_name: 'cold', color: '0000ff' }))
  await expect(200, await ben.patch(`${engine}/issues/1`, { labels: [] }))
  await expect(204, await ada.delete(`${engine}/labels/cold`))
  await expect(204, await ada.delete(`${engine}/milestones/1`))
  assert.deepEqual(await history(ada), ['ada milestoned One', 'ada labeled hot', 'ben unlabeled cold'])
  const [, labeled, unlabeled] = await ada.read(`${engine}/issues/1/events`)
  assert.deepEqual([labeled.label.color, unlabeled.label.color], ['ff0000', '0000ff'])
}))

test('octokit reads events of an issue, of a repository and single ones, page by page', inject(async ({ forge, ada, open }) => {
  await open({ assignees: ['ben'] })
  await open({ labels: ['b'] })
  await expect(200, await ada.patch(`${engine}/issues/1`, { state: 'closed' }))
  for (const baseUrl of [`${forge.web}/api/v3`, forge.versioned]) {
    const octokit = new Octokit({ baseUrl, auth: ada.token })
    const { issues } = octokit.rest
    const all = await octokit.paginate(issues.listEventsForRepo, { ...repo, per_page: 1 })
    assert.deepEqual(linesOf(all, 'actor.login', 'event', 'issue.number'), ['ada closed 1', 'ada labeled 2', 'ada assigned 1'])
    const own = await issues.listEvents({ ...repo, issue_number: 1, per_page: 1, page: 2 })
    assert.deepEqual(lines(own.data as Told[]), ['ada closed'])
    assert.match(own.headers.link ?? '', /rel="prev"/)
    const [closed] = all
    const { data } = await issues.getEvent({ ...repo, event_id: closed?.id ?? 0 })
    assert.deepEqual(data, closed)
    assert.equal((await ada.get(data.url)).status, 200)
    assert.equal(data.node_id, btoa(`010:IssueEvent${data.id}`))
    const { data: timeline } = await issues.listEventsForTimeline({ ...repo, issue_number: 1 })
    assert.deepEqual(lines(timeline as Told[]), ['ada assigned ben', 'ada closed'])
  }
  const issue = await ada.read(`${engine}/issues/1`)
  for (const url of [issue.events_url, issue.timeline_url]) assert.equal((await ada.read(url)).length, 2)
}))

test('the timeline orders comments and events by time', inject(async ({ ada, ben, dan, open, clock }) => {
  const issue = `${engine}/issues/1`
  await open({}, dan)
  const steps = [
    () => dan.post(`${issue}/comments`, { body: 'Hm' }),
    () => ben.post(`${issue}/labels`, { labels: ['a'] }),
    () => ada.post(`${issue}/comments`, { body: 'Ha' }),
    () => ada.patch(issue, { state: 'closed' }),
  ]
  for (const step of steps) {
    clock.advance(1000)
    assert.ok((await step()).ok)
  }
  await expect(201, await ben.post(`${issue}/comments`, { body: 'At once' }))
  const all = await ada.read(`${issue}/timeline`)
  assert.deepEqual(lines(all), ['dan commented', 'ben labeled a', 'ada commented', 'ben commented', 'ada closed'])
  assert.partialDeepStrictEqual(all[0], { body: 'Hm', user: { login: 'dan' }, author_association: 'NONE' })
  const paged = []
  for (const page of [1, 2, 3, 4]) paged.push(...(await ada.read(`${issue}/timeline?per_page=2&page=${page}`)))
  assert.deepEqual(paged, all)
}))

test('events are visible to users who can see the repository', inject(async ({ forge, ada, cy, dan, nobody, open }) => {
  await ada.owns('other')
  await open({ labels: ['a'] })
  const [{ id }] = await ada.read(`${engine}/issues/events`)
  const paths = [`/issues/events`, `/issues/events/${id}`, '/issues/1/events', '/issues/1/timeline']
  for (const path of paths) assert.equal((await nobody.get(`${engine}${path}`)).status, 200)
  assert.equal((await ada.get(`/repos/ada/other/issues/events/${id}`)).status, 404, 'of another repository')
  for (const wrong of ['/issues/events/99', '/issues/9/events', '/issues/9/timeline', '/issues/events/x', '/issues/events/1e30'])
    assert.equal((await ada.get(`${engine}${wrong}`)).status, 404, wrong)
  await expect(200, await ada.patch(engine, { private: true }))
  const narrow = await forge.tokenFor('ada', ['public_repo'])
  const other = await fineGrained(forge, 'ada', { metadata: 'read' })
  for (const path of paths) {
    assert.equal((await cy.get(`${engine}${path}`)).status, 200, path)
    for (const who of [nobody, dan, narrow]) assert.equal((await who.get(`${engine}${path}`)).status, 404, path)
    assert.equal((await other.get(`${engine}${path}`)).status, 403, path)
  }
  await expect(200, await ada.patch(engine, { has_issues: false }))
  assert.deepEqual(await ada.read(`${engine}/issues/events`), [])
  for (const path of paths.slice(1)) assert.equal((await ada.get(`${engine}${path}`)).status, 410, path)
}))

test('events of a deleted account remain, without an actor', inject(async ({ ada, ben, open, belfry }) => {
  await open({ assignees: ['cy'] })
  await expect(200, await ben.patch(`${engine}/issues/1`, { state: 'closed' }))
  await expect(201, await ben.post(`${engine}/issues/1/comments`, { body: 'Bye' }))
  await belfry.db.query(sql`delete from accounts where login in ('ben', 'cy')`)
  const [closed, assigned] = await ada.read(`${engine}/issues/events`)
  assert.deepEqual([closed.event, closed.actor, assigned.assignee, assigned.actor.login], ['closed', null, null, 'ada'])
  assert.deepEqual(await history(ada), ['ada assigned ghost', 'ghost closed'])
  assert.deepEqual(lines(await ada.read(`${engine}/issues/1/timeline`)), [
    'ghost commented',
    'ada assigned ghost',
    'ghost closed',
  ])
}))

test('users who are mentioned, and subscribed thereby, are in the history', inject(async (forge) => {
  const { ada, dan, nobody, open } = forge
  const tell = () => runJobs(forge, notificationTasks(forge.belfry.db))
  await open({ title: 'Plain', body: '@ben and @dan, not `@cy`, @nobody or @ada/team' }, dan)
  await tell()
  assert.deepEqual(await history(nobody), ['ben mentioned', 'ben subscribed'], 'nobody mentions themselves')
  await expect(200, await dan.patch(`${engine}/issues/1`, { body: '@ben, @cy' }))
  forge.clock.advance(1000)
  await expect(201, await ada.post(`${engine}/issues/1/comments`, { body: 'Well, @Ben?' }))
  await tell()
  assert.deepEqual((await history(nobody)).slice(2), ['cy mentioned', 'cy subscribed', 'ben mentioned'])
  const kinds = linesOf(await nobody.read(`${engine}/issues/1/timeline`), 'event')
  assert.deepEqual(kinds, ['mentioned', 'subscribed', 'mentioned', 'subscribed', 'commented', 'mentioned'])
  await checkContracts(ada, () => [
    ['issues/list-events', 'get', `${engine}/issues/1/events`],
    ['issues/list-events-for-repo', 'get', `${engine}/issues/events`],
    ['issues/list-events-for-timeline', 'get', `${engine}/issues/1/timeline`],
  ])
  await ada.owns('plans', { private: true })
  await expect(201, await ada.post('/repos/ada/plans/issues', { title: 'Secret', body: '@ben' }))
  await tell()
  assert.deepEqual(await ada.read('/repos/ada/plans/issues/1/events'), [], 'ben cannot see it')
}))
