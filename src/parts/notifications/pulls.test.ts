import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, type Person } from '#test/forge.ts'
import { shareGuild } from '#test/guild.ts'
import { octokitsOf, told } from '#test/inbox.ts'

const forge = await shareGuild()
const { ada, ben, cy, dan, web } = forge
await expect(201, await ada.post('/orgs/guild/teams', { name: 'millers', privacy: 'closed' }))
for (const { login } of [ben, cy]) await expect(200, await ada.put(`/orgs/guild/teams/millers/memberships/${login}`, {}))

/** A repository with a pull request of ben's. He and cy may push, and nobody watches. */
async function openWithPull(fields: Record<string, unknown> = {}) {
  const place = await forge.place({ auto_init: true })
  const { path, repo } = place
  await expect(204, await ada.put(`/orgs/guild/teams/millers/repos/guild/${repo.repo}`, { permission: 'push' }))
  const { sha } = await ada.read(`${path}/commits/main`)
  await expect(201, await ben.post(`${path}/git/refs`, { ref: 'refs/heads/topic', sha }))
  for (const person of [ada, ben, cy]) await expect(204, await person.delete(`${path}/subscription`))
  const write = async (who: Person, file: string) => {
    const content = btoa(`${file}\n`)
    await expect(201, await who.put(`${path}/contents/${file}`, { message: `Write ${file}`, content, branch: 'topic' }))
  }
  await write(ben, 'mill.txt')
  const { number } = await expect(
    201,
    await ben.post(`${path}/pulls`, { title: 'Grind', head: 'topic', base: 'main', ...fields }),
  )
  return { ...place, write, number: number as number, pull: `${path}/pulls/${number}` }
}

test('review_requested: the requested reviewer, who is subscribed from then on', async () => {
  const place = await openWithPull()
  const [{ rest }] = octokitsOf(forge, ben)
  await rest.pulls.requestReviewers({ ...place.repo, pull_number: place.number, reviewers: ['cy'] })
  assert.deepEqual(await place.inbox(cy), ['Grind: review_requested'])
  assert.deepEqual(await place.inbox(ada), [])
  const own = `/notifications/threads/${(await place.thread(cy)).id}`
  assert.equal((await cy.read(`${own}/subscription`)).reason, 'review_requested')
  await expect(205, await cy.patch(own))
  await expect(201, await ben.post(`${place.pull}/requested_reviewers`, { reviewers: ['cy'] }))
  await expect(200, await ben.delete(`${place.pull}/requested_reviewers`, { reviewers: ['cy'] }))
  assert.deepEqual(await place.inbox(cy, ''), [])
  await place.say(ben, place.number)
  assert.deepEqual(await place.inbox(cy, ''), ['Grind: review_requested'])
})

test('review_requested: the members of a requested team except the requester', async () => {
  const place = await openWithPull()
  await expect(201, await ben.post(`${place.pull}/requested_reviewers`, { team_reviewers: ['millers'] }))
  assert.deepEqual(await place.inbox(cy), ['Grind: review_requested'])
  assert.deepEqual(await place.inbox(ben), [])
  // Whoever makes a team belongs to it.
  assert.deepEqual(await place.inbox(ada), ['Grind: review_requested'])
})

test('review_requested: muted or ignored threads do not notify of a request', async () => {
  for (const silence of [(path: string) => cy.delete(path), (path: string) => cy.put(path, { ignored: true })]) {
    const place = await openWithPull({ body: '@cy' })
    const own = `/notifications/threads/${(await place.thread(cy)).id}`
    await silence(`${own}/subscription`)
    await expect(205, await cy.patch(own))
    await expect(201, await ben.post(`${place.pull}/requested_reviewers`, { reviewers: ['cy'] }))
    assert.deepEqual(await place.inbox(cy, ''), [])
  }
})

test('a later request for a review, an assignment or a mention each replace the reason', async () => {
  const place = await openWithPull({ body: '@cy' })
  assert.deepEqual(await place.inbox(cy), ['Grind: mention'])
  await expect(201, await ben.post(`${place.pull}/requested_reviewers`, { reviewers: ['cy'] }))
  assert.deepEqual(await place.inbox(cy), ['Grind: review_requested'])
  await expect(201, await ben.post(`${place.path}/issues/${place.number}/assignees`, { assignees: ['cy'] }))
  assert.deepEqual(await place.inbox(cy), ['Grind: assign'])
  await place.say(ben, place.number, '@cy')
  assert.deepEqual(await place.inbox(cy), ['Grind: mention'])
})

test('state_change: the user who merged a pull request; participants are notified', async () => {
  const place = await openWithPull()
  await place.say(dan, place.number)
  await told(forge)
  await expect(200, await cy.put(`${place.pull}/merge`))
  assert.deepEqual(await place.inbox(ben), ['Grind: author'])
  assert.deepEqual(await place.inbox(dan), ['Grind: comment'])
  assert.deepEqual(await place.inbox(cy), [])
  await place.say(ben, place.number)
  assert.deepEqual(await place.inbox(cy), ['Grind: state_change'])
})

test('state_change: users who closed or reopened a pull request', async () => {
  const place = await openWithPull()
  await expect(200, await cy.patch(place.pull, { state: 'closed' }))
  assert.deepEqual(await place.inbox(ben), ['Grind: author'])
  await expect(205, await ben.patch(`/notifications/threads/${(await place.thread(ben)).id}`))
  await expect(200, await cy.patch(place.pull, { state: 'open' }))
  assert.deepEqual(await place.inbox(ben), ['Grind: author'])
  await place.say(ben, place.number)
  assert.deepEqual(await place.inbox(cy), ['Grind: state_change'])
})

test('comment: users who reviewed or commented on a line', async () => {
  const place = await openWithPull()
  await expect(200, await cy.post(`${place.pull}/reviews`, { event: 'APPROVE' }))
  const { sha } = (await ben.read(place.pull)).head
  const said = { body: 'Here', commit_id: sha, path: 'mill.txt', line: 1, side: 'RIGHT' }
  await expect(201, await dan.post(`${place.pull}/comments`, said))
  assert.deepEqual(await place.inbox(ben), ['Grind: author'])
  await place.say(ben, place.number)
  assert.deepEqual(await place.inbox(cy), ['Grind: comment'])
  assert.deepEqual(await place.inbox(dan), ['Grind: comment'])
})

test('mention: in a pull request, in a review, and in a comment on a line', async () => {
  const place = await openWithPull({ body: '@cy' })
  assert.deepEqual(await place.inbox(cy), ['Grind: mention'])
  await expect(200, await cy.post(`${place.pull}/reviews`, { event: 'COMMENT', body: 'Ask @ada' }))
  assert.deepEqual(await place.inbox(ada), ['Grind: mention'])
  const { sha } = (await ben.read(place.pull)).head
  await expect(201, await cy.post(`${place.pull}/comments`, { body: '@dan', commit_id: sha, path: 'mill.txt', line: 1 }))
  assert.deepEqual(await place.inbox(dan), ['Grind: mention'])
})

test('a pending review notifies nobody', async () => {
  const place = await openWithPull()
  const comments = [{ path: 'mill.txt', line: 1, body: 'And @dan' }]
  const { id } = await expect(200, await cy.post(`${place.pull}/reviews`, { body: 'Hm, @ada', comments }))
  for (const person of [ada, ben, dan]) assert.deepEqual(await place.inbox(person), [])
  await expect(200, await cy.post(`${place.pull}/reviews/${id}/events`, { event: 'COMMENT' }))
  assert.deepEqual(await place.inbox(ben), ['Grind: author'])
  assert.deepEqual(await place.inbox(ada), ['Grind: mention'])
  assert.deepEqual(await place.inbox(dan), ['Grind: mention'])
})

test('new commits notify participants except the pusher', async () => {
  const place = await openWithPull()
  await place.say(dan, place.number)
  await place.write(cy, 'wheel.txt')
  assert.deepEqual(await place.inbox(dan), ['Grind: comment'])
  assert.deepEqual(await place.inbox(ben), ['Grind: author'])
  assert.deepEqual(await place.inbox(cy), [])
  const [newest] = await dan.read(`/notifications/threads/${(await place.thread(dan)).id}/reasons`)
  assert.deepEqual([newest.act, newest.actor.login], ['pushed', 'cy'])
})

test('a pull request as a subject: its state and its latest comment or review', async () => {
  const place = await openWithPull({ draft: true })
  await expect(200, await ada.put(`${place.path}/subscription`, { subscribed: true }))
  const api = `${web}/api/v3${place.path}`
  const subject = async () => {
    const { subject: shown } = await place.thread(ada)
    for (const url of [shown.url, shown.latest_comment_url]) assert.equal((await ada.get(url)).status, 200, url)
    return shown
  }
  const first = await place.say(ben, place.number)
  assert.deepEqual(await subject(), {
    title: 'Grind',
    url: `${api}/pulls/${place.number}`,
    latest_comment_url: `${api}/issues/comments/${first}`,
    type: 'PullRequest',
    state: 'draft',
    html_url: `${web}/guild/${place.repo.repo}/pull/${place.number}`,
  })
  const { id } = await expect(200, await cy.post(`${place.pull}/reviews`, { event: 'COMMENT', body: 'Hm' }))
  assert.equal((await subject()).latest_comment_url, `${api}/pulls/${place.number}/reviews/${id}`)
  const { sha } = (await ben.read(place.pull)).head
  const at = { commit_id: sha, path: 'mill.txt', line: 1 }
  const line = await expect(201, await cy.post(`${place.pull}/comments`, { body: 'Here', ...at }))
  assert.equal((await subject()).latest_comment_url, `${api}/pulls/comments/${line.id}`)
  await expect(204, await cy.delete(`${place.path}/pulls/comments/${line.id}`))
  assert.equal((await subject()).latest_comment_url, `${api}/pulls/${place.number}`)
  await expect(200, await ben.patch(place.pull, { state: 'closed' }))
  assert.equal((await subject()).state, 'closed')
})

test('the state of a pull request is open or merged', async () => {
  const place = await openWithPull({ body: '@ada' })
  assert.equal((await place.thread(ada)).subject.state, 'open')
  await expect(200, await cy.put(`${place.pull}/merge`))
  assert.equal((await place.thread(ada)).subject.state, 'merged')
})
