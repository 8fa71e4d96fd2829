import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'

test('a suffix after a ref with slashes is an endpoint, and a ref that is equal to a suffix is a ref', async () => {
  await using engine = await openEngine()
  const { work, ada, forge } = engine
  const first = await work.commit('First')
  await work.push('HEAD', 'HEAD:refs/heads/feature/x', 'HEAD:refs/heads/comments')
  const commits = '/repos/ada/engine/commits'
  const comment = await expect(201, await ada.post(`${commits}/feature/x/comments`, { body: 'Good' }))
  assert.equal(comment.commit_id, first)
  for (const ref of ['feature/x', 'feature%2Fx', first.slice(0, 8), 'comments']) {
    for (const client of [forge.nobody, forge.nobodyVersioned]) {
      assert.equal((await client.read(`${commits}/${ref}`)).sha, first)
      assert.equal((await client.read(`${commits}/${ref}/comments?per_page=1`))[0].id, comment.id)
    }
  }
  await expect(422, await ada.get(`${commits}/feature/comment`))
  assert.equal((await ada.head(`${commits}/feature/x/comments`)).status, 200)
  await expect(200, await ada.patch('/repos/ada/engine', { name: 'motor' }))
  const moved = await ada.get(`${commits}/feature/x/comments?page=2`)
  assert.equal(moved.status, 301)
  assert.match(moved.headers.get('location') ?? '', /\/repositories\/\d+\/commits\/feature\/x\/comments\?page=2$/)
})
