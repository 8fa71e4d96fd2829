import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { type Client, expect, injecting } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const pull = `${engine}/pulls/1`
const say = (who: Client, commit_id: string, path = 'notes.txt') =>
  who.post(`${pull}/comments`, { body: 'Hm', path, line: 1, commit_id })

test('a pull request from a fork can be reviewed, also after the fork was deleted', inject(async ({ ada, dan, follow, desk }) => {
  await expect(202, await dan.post(`${engine}/forks`))
  await follow()
  const work = await desk.clone(dan, 'dan/engine')
  const sha = await work.commit('Draw', { 'plan.txt': 'A plan.\n' })
  await work.push('HEAD:plan')
  await expect(201, await dan.post(`${engine}/pulls`, { title: 'Plan', head: 'dan:plan', base: 'main' }))
  await expect(201, await say(ada, sha, 'plan.txt'))
  await expect(204, await dan.delete('/repos/dan/engine'))
  await follow()
  const reply = await expect(201, await say(ada, sha, 'plan.txt'))
  assert.equal(reply.diff_hunk, '@@ -0,0 +1 @@\n+A plan.')
  await expect(200, await ada.post(`${pull}/reviews`, { event: 'APPROVE', commit_id: sha }))
}))

test('after a force push, old comments stay and new ones are on new commits', inject(async ({ forge, ada, ben, topic, work }) => {
  await forge.propose()
  const first = await expect(201, await say(ben, topic))
  await work.git('reset', '--quiet', '--hard', 'main')
  const other = await work.commit('Write other notes', { 'notes.txt': 'Another note.\n' })
  await work.push('--force', 'topic')
  await forge.follow()
  assert.equal((await say(ben, topic)).status, 422)
  const second = await expect(201, await say(ben, other))
  assert.equal(second.diff_hunk, '@@ -0,0 +1 @@\n+Another note.')
  const [told] = await ada.read(`${pull}/comments`)
  assert.deepEqual([told.id, told.commit_id, told.diff_hunk], [first.id, topic, '@@ -0,0 +1 @@\n+A note.'])
  const review = await expect(200, await ben.post(`${pull}/reviews`, { event: 'APPROVE' }))
  assert.equal(review.commit_id, other, 'the last commit, when none is named')
}))

test('merged and closed pull requests can be reviewed', inject(async ({ ben, dan, topic, propose, follow }) => {
  await propose()
  await expect(200, await ben.put(`${pull}/merge`))
  await follow()
  await expect(201, await say(dan, topic))
  await expect(200, await dan.post(`${pull}/reviews`, { event: 'COMMENT', body: 'Well done' }))
}))

test('lines that PostgreSQL text cannot store can have comments', inject(async ({ work, propose, ben }) => {
  const odd = await work.commit('Odd', {
    'late.txt': `${'x\n'.repeat(5000)}a\0b\n`,
    'bytes.txt': Buffer.from([97, 255, 10]),
  })
  await work.push('topic')
  await propose()
  for (const [path, line, last] of [
    ['late.txt', 5001, '+a\ufffdb'],
    ['bytes.txt', 1, '+a\ufffd'],
  ] as const) {
    const at = { body: 'Odd', path, line }
    const made = await expect(201, await ben.post(`${pull}/comments`, { ...at, commit_id: odd }))
    assert.equal(made.diff_hunk.split('\n').at(-1), last)
    await expect(200, await ben.post(`${pull}/reviews`, { event: 'COMMENT', comments: [at] }))
  }
}))

test('missing commits break nothing', inject(async ({ ben, main, topic, propose, belfry, id }) => {
  await propose()
  await belfry.storage.erase(id)
  for (const bare of [true, false]) {
    if (!bare) await belfry.storage.create(id, 'main')
    for (const sha of [topic, main]) assert.ok((await say(ben, sha)).status < 500)
    assert.equal((await ben.post(`${pull}/reviews`, { commit_id: main })).status, 422)
  }
}))
