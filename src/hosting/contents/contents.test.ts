import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { engine, openInitialized } from '#test/conversations.ts'
import { errorsOf, expect, type Forge, injecting, linesOf, openForge, type Person } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'

const inject = injecting(openInitialized)
const packed = (text: string) => Buffer.from(text).toString('base64')
const unpacked = (content: string) => Buffer.from(content, 'base64').toString()
const inside = (forge: Forge, id: number, ...args: string[]) => git(['-C', forge.belfry.storage.pathOf(id), ...args])
const octokitOf = (forge: Forge, person: Person) => new Octokit({ baseUrl: `${forge.web}/api/v3`, auth: person.token })

/** What the database knows of a repository's refs, and the kinds of its events, oldest first. */
const known = async ({ belfry: { db } }: Forge, id: number) => ({
  refs: Object.fromEntries(
    (await db.rows<{ name: string; sha: string }>(sql`select name, sha from refs where repo_id = ${id}`)).map((ref) => [
      ref.name,
      ref.sha,
    ]),
  ),
  events: (await db.rows<{ type: string }>(sql`select type from events where repo_id = ${id} order by id`)).map(
    ({ type }) => type,
  ),
})

test('octokit creates, reads, changes and deletes a file', inject(async (forge) => {
  const { repos } = octokitOf(forge, forge.ada)
  const file = { owner: 'ada', repo: 'engine', path: 'docs/ein schöner Name/ñ #1?.md' }
  const made = await repos.createOrUpdateFileContents({ ...file, message: 'Tell of ñ', content: packed('one\n') })
  assert.equal(made.status, 201)
  const { content, commit } = made.data
  assert.partialDeepStrictEqual(content, { type: 'file', name: 'ñ #1?.md', path: file.path, size: 4 })
  assert.ok(content && !('content' in content))
  assert.partialDeepStrictEqual(commit, {
    message: 'Tell of ñ',
    author: { name: 'ada', date: '2026-02-03T04:05:06Z' },
    committer: { name: 'ada' },
    verification: { verified: false, reason: 'unsigned' },
  })
  assert.match(commit.author?.email ?? '', /^\d+\+ada@users\.noreply\./)
  const { data } = await repos.getContent(file)
  assert.ok(!Array.isArray(data) && data.type === 'file' && 'content' in data)
  assert.equal(unpacked(data.content), 'one\n')
  assert.equal(data.sha, content?.sha)
  assert.equal((await forge.ada.read(data.url)).sha, data.sha, 'its address leads to itself')
  const changed = await repos.createOrUpdateFileContents({ ...file, message: 'Two', content: packed('two\n'), sha: data.sha })
  assert.equal(changed.status, 200)
  assert.equal(changed.data.commit.parents?.[0]?.sha, commit.sha)
  const gone = await repos.deleteFile({ ...file, message: 'Gone', sha: changed.data.content?.sha ?? '' })
  assert.equal(gone.status, 200)
  assert.equal(gone.data.content, null)
  await assert.rejects(repos.getContent(file), { status: 404 })
  await assert.rejects(repos.getContent({ ...file, path: 'docs' }), { status: 404 })
  const { refs, events } = await known(forge, forge.id)
  assert.deepEqual(refs, { 'refs/heads/main': gone.data.commit.sha })
  assert.deepEqual(events, ['CreateEvent', 'CreateEvent', 'PushEvent', 'PushEvent', 'PushEvent'])
  assert.equal(await inside(forge, forge.id, 'log', '--format=%s', 'main'), 'Gone\nTwo\nTell of ñ\nInitial commit\n')
  await inside(forge, forge.id, 'fsck', '--strict')
  assert.equal(await inside(forge, forge.id, 'for-each-ref', '--format=%(refname)'), 'refs/heads/main\n')
}))

test('an empty file is created and read', inject(async ({ ada }) => {
  await expect(201, await ada.put(`${engine}/contents/empty`, { message: 'm', content: '' }))
  assert.partialDeepStrictEqual(await ada.read(`${engine}/contents/empty`), { size: 0, content: '', encoding: 'base64' })
}))

test('changing a file requires its current sha', inject(async (forge) => {
  const put = (body: Record<string, unknown>) => forge.ada.put(`${engine}/contents/a`, { message: 'm', content: 'MQ==', ...body })
  const { content } = await expect(201, await put({}))
  assert.match((await expect(422, await put({}))).message, /"sha" wasn't supplied/)
  const wrong = 'f'.repeat(40)
  assert.equal((await expect(409, await put({ sha: wrong }))).message, `a does not match ${wrong}`)
  const fresh = await forge.ada.put(`${engine}/contents/b`, { message: 'm', content: '', sha: wrong })
  assert.equal(fresh.status, 409)
  const remove = (body: Record<string, unknown>) => forge.ada.delete(`${engine}/contents/a`, body)
  assert.equal((await remove({ message: 'm', sha: wrong })).status, 409)
  assert.equal((await remove({ message: 'm' })).status, 422)
  assert.equal((await remove({ sha: content.sha })).status, 422)
  assert.equal((await forge.ada.delete(`${engine}/contents/zzz`, { message: 'm', sha: content.sha })).status, 404)
  assert.equal((await known(forge, forge.id)).events.filter((type) => type === 'PushEvent').length, 1)
}))

test('invalid paths, messages and authors are refused', inject(async ({ ada, logged }) => {
  const put = (path: string, body: Record<string, unknown> = {}) =>
    ada.put(`${engine}/contents/${path}`, { message: 'm', content: 'MQ==', ...body })
  const paths = `../x a/../x a/./x .git/config a/.GiT/hooks/x a/.git./x a/.g\u200cit/x a/git~1/x a\\.git\\x a//x /x x/ .`.split(
    ' ',
  )
  for (const path of [...paths, '', '.git /x', `${'d/'.repeat(200)}x`, 'n'.repeat(256)]) {
    // Written with %2F, or the client itself would resolve the dots.
    assert.equal((await put(encodeURIComponent(path))).status, 422, path)
  }
  assert.equal((await put('a%00b')).status, 404)
  for (const content of ['MQ', 'M?==', '====', 'MQ==MQ==', 5, null]) assert.equal((await put('x', { content })).status, 422)
  for (const message of ['', null, 7, undefined]) assert.equal((await put('x', { message })).status, 422)
  for (const author of [
    { name: 'x' },
    { name: '<>', email: 'x@y' },
    { name: 'x', email: '\n' },
    { name: 'x', email: 'x@y', date: 'yesterday' },
    { name: 'x', email: 'x@y', date: '1960-01-01T00:00:00Z' },
    { name: 'x', email: 'x@y', date: '2020-13-01T00:00:00Z' },
    'x',
  ]) {
    assert.equal((await put('x', { author })).status, 422, JSON.stringify(author))
  }
  assert.equal((await expect(404, await put('x', { branch: 'nope' }))).message, 'Branch nope not found')
  for (const branch of ['--all', 'main~0', 'a b', '../main', '\ud800']) assert.equal((await put('x', { branch })).status, 404)
  await expect(201, await put('file'))
  assert.equal((await put('file/below')).status, 422, 'a file holds no files')
  await expect(201, await put('folder/x'))
  assert.equal((await put('folder')).status, 422, 'a folder is no file')
  assert.equal((await ada.get(`${engine}/contents/..%2Fx`)).status, 422)
  assert.deepEqual(errorsOf({ logged }), [])
}))

test('unusual names and messages stay unchanged', inject(async ({ ada }) => {
  const path = 'a"b\\c\td\ne ✓.txt'
  const message = 'One\n\n"two" <three>\nfrom nowhere\n✓'
  const body = {
    message,
    content: packed('x'),
    author: { name: 'Bé <b>\n', email: 'b@example.com', date: '2020-01-02T03:04:05+02:00' },
  }
  const { content, commit } = await expect(201, await ada.put(`${engine}/contents/${encodeURIComponent(path)}`, body))
  assert.equal(content.path, path)
  assert.equal(commit.message, message)
  assert.deepEqual(commit.author, { name: 'Bé b', email: 'b@example.com', date: '2020-01-02T01:04:05Z' })
  assert.equal(commit.committer.name, 'ada')
  const listed = await ada.read(`${engine}/contents/`)
  assert.ok(listed.some((each: { name: string }) => each.name === path))
  assert.equal((await ada.read(content.url)).path, path)
}))

test('the committer is also the author by default', inject(async ({ ada }) => {
  const committer = { name: 'Bot', email: 'bot@example.com' }
  const { commit } = await expect(201, await ada.put(`${engine}/contents/a`, { message: 'm', content: '', committer }))
  assert.partialDeepStrictEqual(commit, { author: committer, committer })
}))

test('the first file of an empty repository creates its branch', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  assert.equal((await expect(404, await ada.get(`${engine}/contents/`))).message, 'This repository is empty.')
  assert.equal((await ada.put(`${engine}/contents/a`, { message: 'm', content: '', branch: 'a..b' })).status, 404)
  const { commit, content } = await expect(201, await ada.put(`${engine}/contents/a/b`, { message: 'm', content: packed('1') }))
  assert.deepEqual(commit.parents, [])
  const { refs, events } = await known(forge, id)
  assert.deepEqual(refs, { 'refs/heads/main': commit.sha })
  assert.deepEqual(events.slice(0, 2), ['CreateEvent', 'CreateEvent'])
  await expect(200, await ada.delete(`${engine}/contents/a/b`, { message: 'm', sha: content.sha }))
  assert.deepEqual(await ada.read(`${engine}/contents/`), [], 'a branch may hold no file at all')
  await expect(201, await ada.put(`${engine}/contents/c`, { message: 'm', content: '' }))
})

test('a fork whose contents are still being copied cannot be written to', inject(async ({ person }) => {
  const ben = await person('ben')
  await expect(202, await ben.post(`${engine}/forks`))
  assert.equal((await ben.get('/repos/ben/engine/contents/README.md')).status, 404)
  assert.equal((await ben.put('/repos/ben/engine/contents/x', { message: 'm', content: '' })).status, 409)
}))

test('a file is created in an existing folder', inject(async ({ ada }) => {
  for (const name of ['a', 'b', 'below/c', 'below/d', 'e']) {
    const body = { message: name, content: packed(name) }
    await expect(201, await ada.put(`${engine}/contents/folder/${name}`, body))
  }
  const listed = await ada.read(`${engine}/contents/folder`)
  assert.deepEqual(linesOf(listed, 'path'), ['folder/a', 'folder/b', 'folder/below', 'folder/e'])
}))

test('of concurrent writers, exactly the successful ones are in the history', inject(async ({ forge, ada }) => {
  const waves = [1, 2]
  const told: string[] = []
  for (const wave of waves) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        ada.put(`${engine}/contents/${wave}/${index}`, { message: `${wave}/${index}`, content: packed(`${wave}${index}`) }),
      ),
    )
    for (const answer of answers) {
      assert.ok([201, 409].includes(answer.status), `${answer.status} ${await answer.clone().text()}`)
      const body = (await answer.json()) as { commit?: { sha: string } }
      if (body.commit) told.push(body.commit.sha)
    }
    assert.ok(told.length >= wave, 'someone wins each time')
  }
  const history = (await inside(forge, forge.id, 'rev-list', '--reverse', 'main')).trim().split('\n').slice(1)
  assert.deepEqual(history.toSorted(), told.toSorted())
  const { refs, events } = await known(forge, forge.id)
  assert.equal(refs['refs/heads/main'], history.at(-1))
  const pushed = await forge.belfry.db.rows<{ head: string }>(sql`
    select payload->>'head' as head from events where repo_id = ${forge.id} and type = 'PushEvent' order by id`)
  assert.deepEqual(linesOf(pushed, 'head'), history)
  assert.equal(events.length, 2 + history.length)
}))

test('a branch that moves while a file is written to it is not moved back', inject(async ({ forge, ada, id }) => {
  await inside(forge, id, 'branch', 'side', 'main')
  const { commit } = await expect(201, await ada.put(`${engine}/contents/a`, { message: 'm', content: '', branch: 'side' }))
  // Git runs it when the commit is written and the branch has not moved yet.
  const hook = `#!/bin/sh\ngrep -q refs/belfry/ && git update-ref refs/heads/main ${commit.sha}\nexit 0\n`
  const hooks = join(forge.belfry.storage.pathOf(id), 'hooks')
  await mkdir(hooks)
  await writeFile(join(hooks, 'reference-transaction'), hook, { mode: 0o755 })
  assert.equal((await ada.put(`${engine}/contents/b`, { message: 'm', content: '' })).status, 409)
  assert.equal((await inside(forge, id, 'rev-parse', 'main')).trim(), commit.sha)
}))

test('writing requires push access and a repository that is not archived', inject(async ({ person, nobody, tokenFor, ada }) => {
  const ben = await person('ben')
  const body = { message: 'm', content: '' }
  const file = `${engine}/contents/x`
  assert.equal((await nobody.put(file, body)).status, 401)
  assert.equal((await ben.put(file, body)).status, 403)
  assert.equal((await (await tokenFor('ada', ['read:org'])).put(file, body)).status, 403)
  await expect(201, await (await tokenFor('ada', ['public_repo'])).put(file, body))
  await expect(200, await ada.patch(engine, { archived: true }))
  const refusal = await expect(403, await ada.put(`${engine}/contents/y`, body))
  assert.equal(refusal.message, 'Repository was archived so is read-only.')
  assert.equal((await ada.delete(file, { message: 'm', sha: 'x' })).status, 403)
  await nobody.read(file)
}))
