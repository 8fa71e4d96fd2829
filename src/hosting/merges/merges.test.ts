import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, injecting, linesOf, type Person } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const merges = `${engine}/merges`

test('a branch or a commit is merged into a branch, and the merge is a push', inject(async ({ ada, cy, work, main, topic }) => {
  const merged = await expect(201, await ada.post(merges, { base: 'main', head: 'topic', commit_message: 'Take notes' }))
  assert.deepEqual(linesOf(merged.parents, 'sha'), [main, topic])
  assert.deepEqual([merged.commit.message, merged.author.login], ['Take notes', 'ada'])
  const [event] = await ada.read(`${engine}/events`)
  assert.partialDeepStrictEqual(event, { type: 'PushEvent', payload: { head: merged.sha, before: main } })
  assert.equal((await ada.post(merges, { base: 'main', head: topic })).status, 204)
  await work.git('checkout', '--quiet', '-b', 'clash', main)
  await work.commit('Clash', { 'notes.txt': 'Other.\n' })
  await work.push('clash')
  assert.equal((await expect(409, await ada.post(merges, { base: 'main', head: 'clash' }))).message, 'Merge conflict')
  await expect(404, await ada.post(merges, { base: 'gone', head: 'topic' }))
  await expect(404, await ada.post(merges, { base: 'main', head: 'gone' }))
  await expect(404, await ada.post(merges, { base: main, head: 'topic' }))
  await expect(403, await cy.post(merges, { base: 'main', head: 'topic' }))
  await checkContracts(ada, (variant) => [
    ['git/create-ref', 'post', `${engine}/git/refs`, { ref: `refs/heads/${variant}`, sha: main }],
    ['repos/merge', 'post', merges, { base: variant, head: 'topic' }],
  ])
}))

test('a fork follows its parent: forward, by a merge, or not at all', inject(async (forge) => {
  const { ada, dan, desk, topic } = forge
  await expect(202, await dan.post(`${engine}/forks`))
  await forge.follow()
  const sync = (who: Person = dan, branch = 'main') => who.post('/repos/dan/engine/merge-upstream', { branch })
  assert.partialDeepStrictEqual(await expect(200, await sync()), { merge_type: 'none', base_branch: 'ada:main' })
  await expect(200, await ada.patch(`${engine}/git/refs/heads/main`, { sha: topic }))
  assert.partialDeepStrictEqual(await expect(200, await sync()), { merge_type: 'fast-forward' })
  assert.equal((await dan.read('/repos/dan/engine/branches/main')).commit.sha, topic)
  const [event] = await dan.read('/repos/dan/engine/events')
  assert.partialDeepStrictEqual(event, { type: 'PushEvent', payload: { head: topic } })
  const put = (who: Person, path: string, file: string) =>
    who.put(`${path}/contents/${file}`, { message: file, content: Buffer.from(who.login).toString('base64') })
  await expect(201, await put(ada, engine, 'theirs'))
  await expect(201, await put(dan, '/repos/dan/engine', 'ours'))
  assert.partialDeepStrictEqual(await expect(200, await sync()), { merge_type: 'merge' })
  const work = await desk.clone(dan, 'dan/engine')
  assert.deepEqual((await work.git('ls-files')).split('\n'), ['notes.txt', 'ours', 'readme.txt', 'theirs'])
  await expect(201, await put(ada, engine, 'both'))
  await expect(201, await put(dan, '/repos/dan/engine', 'both'))
  await expect(409, await sync())
  await expect(422, await sync(dan, 'gone'))
  await expect(422, await ada.post(`${engine}/merge-upstream`, { branch: 'main' }))
  await expect(403, await sync(ada))
  await checkContracts(dan, () => [['repos/merge-upstream', 'post', '/repos/dan/engine/merge-upstream', { branch: 'topic' }]])
  // Private commits do not go into a public fork, and a hidden parent looks like none.
  await expect(200, await ada.patch(engine, { private: true }))
  assert.match((await expect(422, await sync())).message, /no upstream/)
  assert.deepEqual(
    [...(await forge.belfry.storage.refsOf(forge.id)).keys()].filter((name) => /pull/.test(name)),
    [],
  )
}))
