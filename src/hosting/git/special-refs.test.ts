import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { removeReplacements } from '#hosting/pushes/import-refs.ts'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { assertSettled, openEngine } from '#test/git.ts'

test('a push with replacement objects is refused', async () => {
  await using engine = await openEngine()
  const { work, forge, id, ada } = engine
  const first = await work.commit('First', { 'notes.txt': 'true\n' })
  const second = await work.commit('Second', { 'notes.txt': 'false\n' })
  await work.push(`${first}:refs/heads/main`)
  const names = ['replace', 'bisect', 'worktree', 'rewritten', 'belfry', 'drafts', 'import'].map(
    (folder) => `refs/${folder}/${first}`,
  )
  const { status, stderr } = await work.attempt(
    'push',
    'origin',
    ...names.map((name) => `${second}:${name}`),
    `${second}:refs/tags/v1`,
  )
  assert.equal(status, 1)
  assert.equal(stderr.match(/deny updating a hidden ref/g)?.length, names.length)
  assert.deepEqual([...(await forge.belfry.storage.refsOf(id)).keys()], ['refs/heads/main', 'refs/tags/v1'])
  await expect(422, await ada.post('/repos/ada/engine/git/refs', { ref: `refs/replace/${first}`, sha: second }))
  await assertSettled(forge, id)
})

test('existing replacement objects have no effect, and are removed', async () => {
  await using engine = await openEngine()
  const { work, forge, id, ada, desk } = engine
  const first = await work.commit('First', { 'notes.txt': 'true\n' })
  const second = await work.commit('Second', { 'notes.txt': 'false\n' })
  await work.push(`${first}:refs/heads/main`, `${second}:refs/heads/other`)
  const { db, storage } = forge.belfry
  const path = storage.pathOf(id)
  const [one, other] = [await work.git('rev-parse', `${first}:notes.txt`), await work.git('rev-parse', `${second}:notes.txt`)]
  for (const [from, to] of [
    [one, other],
    [first, await work.git('rev-parse', `${second}^{tree}`)],
  ] as const)
    await git(['-C', path, 'update-ref', `refs/replace/${from}`, to])
  const read = async () => Buffer.from((await ada.read('/repos/ada/engine/contents/notes.txt')).content, 'base64').toString()
  assert.equal(await read(), 'true\n')
  assert.equal((await ada.read(`/repos/ada/engine/commits/${first}`)).commit.message, 'First\n')
  assert.equal((await ada.read('/repos/ada/engine/compare/main...other')).ahead_by, 1)
  assert.doesNotMatch(JSON.stringify(await ada.read('/repos/ada/engine/git/refs')), /replace/)
  await expect(404, await ada.get(`/repos/ada/engine/git/ref/replace/${one}`))
  const mirror = await desk.clone(null, 'ada/engine', '--mirror')
  assert.doesNotMatch(await mirror.git('for-each-ref'), /replace/)

  // As the migration finds and leaves it.
  const migration = await readFile(join(import.meta.dirname, '../../../migrations/0014_git_safety.sql'), 'utf8')
  await db.query(sql`insert into refs (repo_id, name, sha) values (${id}, ${`refs/replace/${one}`}, ${other})`)
  await db.pool.query(migration.slice(migration.indexOf('insert into')))
  assert.deepEqual(await removeReplacements(db, storage), [])
  assert.deepEqual([...(await storage.refsOf(id)).keys()], ['refs/heads/main', 'refs/heads/other'])
  await assertSettled(forge, id)
  assert.equal(await read(), 'true\n')
})
