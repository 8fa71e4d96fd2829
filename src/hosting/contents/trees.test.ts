import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, linesOf } from '#test/forge.ts'
import { commitFolder, openEngine } from '#test/git.ts'

test('a folder lists its first 1,000 entries; the trees API lists all, or is marked as truncated', async () => {
  await using engine = await openEngine()
  const { work, forge, ada } = engine
  await expect(409, await forge.nobody.get('/repos/ada/engine/git/trees/main'))
  await work.commit('Begin', { 'README.md': 'hello', 'src/a/b.txt': 'b' })
  await commitFolder(work, 1200)
  await work.push('HEAD', 'HEAD:refs/heads/topic/one')

  const listed = await ada.read('/repos/ada/engine/contents/many')
  assert.equal(listed.length, 1000)
  assert.equal(listed[999].path, 'many/000999')
  assert.equal((await ada.read('/repos/ada/engine/contents/many/001100')).size, 0)

  const root = await ada.read('/repos/ada/engine/git/trees/main')
  assert.equal(root.truncated, false)
  assert.equal(root.sha, await work.git('rev-parse', 'HEAD^{tree}'))
  const api = `${forge.web}/api/v3/repos/ada/engine/git`
  assert.equal(root.url, `${api}/trees/${root.sha}`)
  const readme = await work.git('rev-parse', 'HEAD:README.md')
  assert.deepEqual(root.tree[0], {
    ...{ path: 'README.md', mode: '100644', type: 'blob', sha: readme, size: 5 },
    url: `${api}/blobs/${readme}`,
  })
  assert.deepEqual(linesOf(root.tree, 'type', 'path'), ['blob README.md', 'tree many', 'tree src'])
  const many = await ada.versioned.read(`/repos/ada/engine/git/trees/${root.tree[1].sha}`)
  assert.equal(many.tree.length, 1200)
  const deep = await forge.nobody.read('/repos/ada/engine/git/trees/topic/one?recursive=0')
  assert.equal(deep.tree.length, 2 + 1 + 1200 + 2 + 1 - 1)
  assert.equal(deep.tree.at(-1).path, 'src/a/b.txt')
  await expect(404, await ada.get(`/repos/ada/engine/git/trees/${readme}`))
  await expect(404, await ada.get('/repos/ada/engine/git/trees/absent'))
})
