import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { type Client, expect } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const pull = `${engine}/pulls/1`
const say = (who: Client, commit_id: string, path = 'notes.txt') =>
  who.post(`${pull}/comments`, { body: 'Hm', path, line: 1, commit_id })

test('a pull request from a fork can be reviewed, also after the fork was deleted', async () => {
  await using forge = await openWithTopic()
  const { ada, dan } = forge
  await expect(202, await dan.post(`${engine}/forks`))
  await forge.follow()
  const work = await forge.desk.clone(dan, 'dan/engine')
  const sha = await work.commit('Draw', { 'plan.txt': 'A plan.\n' })
  await work.push('HEAD:plan')
  await expect(201, await dan.post(`${engine}/pulls`, { title: 'Plan', head: 'dan:plan', base: 'main' }))
  await expect(201, await say(ada, sha, 'plan.txt'))
  await expect(204, await dan.delete('/repos/dan/engine'))
  await forge.follow()
  const reply = await expect(201, await say(ada, sha, 'plan.txt'))
  assert.equal(reply.diff_hunk, '@@ -0,0 +1 @@\n+A plan.')
  await expect(200, await ada.post(`${pull}/reviews`, { event: 'APPROVE', commit_id: sha }))
})

test('after a force push, old comments stay and new ones are on new commits', async () => {
  await using forge = await openWithTopic()
  const { ada, ben, topic, work } = forge
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
})

test('merged and closed pull requests can be reviewed', async () => {
  await using forge = await openWithTopic()
  const { ben, dan, topic } = forge
  await forge.propose()
  await expect(200, await ben.put(`${pull}/merge`))
  await forge.follow()
  await expect(201, await say(dan, topic))
  await expect(200, await dan.post(`${pull}/reviews`, { event: 'COMMENT', body: 'Well done' }))
})

test('lines that PostgreSQL text cannot store can have comments', async () => {
  await using forge = await openWithTopic()
  const odd = await forge.work.commit('Odd', {
    'late.txt': `${'x\n'.repeat(5000)}a\0b\n`,
    'bytes.txt': Buffer.from([97, 255, 10]),
  })
  await forge.work.push('topic')
  await forge.propose()
  for (const [path, line, last] of [
    ['late.txt', 5001, '+a\ufffdb'],
    ['bytes.txt', 1, '+a\ufffd'],
  ] as const) {
    const at = { body: 'Odd', path, line }
    const made = await expect(201, await forge.ben.post(`${pull}/comments`, { ...at, commit_id: odd }))
    assert.equal(made.diff_hunk.split('\n').at(-1), last)
    await expect(200, await forge.ben.post(`${pull}/reviews`, { event: 'COMMENT', comments: [at] }))
  }
})

test('missing commits break nothing', async () => {
  await using forge = await openWithTopic()
  const { ben, main, topic } = forge
  await forge.propose()
  await forge.belfry.storage.erase(forge.id)
  for (const bare of [true, false]) {
    if (!bare) await forge.belfry.storage.create(forge.id, 'main')
    for (const sha of [topic, main]) assert.ok((await say(ben, sha)).status < 500)
    assert.equal((await ben.post(`${pull}/reviews`, { commit_id: main })).status, 422)
  }
})
