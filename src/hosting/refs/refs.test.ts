import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { openInitialized } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { errorsOf, expect, type Forge, injecting, linesOf, openForge } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { Octokit } from '#test/octokit.ts'

const inject = injecting(openWithEngine)
const engine = '/repos/ada/engine'
const inside = async (forge: Forge, id: number, ...args: string[]) =>
  (await git(['-C', forge.belfry.storage.pathOf(id), '-c', 'user.name=Bé', '-c', 'user.email=b@example.com', ...args])).trim()

/** A repository with two commits on main, and what its log says. */
async function openWithEngine() {
  const forge = await openInitialized()
  const { ada, id } = forge
  const { commit } = await expect(201, await ada.put(`${engine}/contents/a`, { message: 'Second', content: 'MQ==' }))
  const [second, first] = [commit.sha as string, commit.parents[0].sha as string]
  const known = async () =>
    Object.fromEntries(
      (await forge.belfry.db.rows<{ name: string; sha: string }>(sql`select name, sha from refs where repo_id = ${id}`)).map(
        ({ name, sha }) => [name, sha],
      ),
    )
  const statement = sql`select type, payload->>'ref' as ref from events where repo_id = ${id} order by id offset 3`
  const events = async () => linesOf(await forge.belfry.db.rows(statement), 'type', 'ref')
  return Object.assign(forge, { first, second, known, events })
}

test('octokit creates, finds, moves and deletes a branch', inject(async ({ forge, first, second }) => {
  const { git: refs } = new Octokit({ baseUrl: `${forge.web}/api/v3`, auth: forge.ada.token })
  const repo = { owner: 'ada', repo: 'engine' }
  const made = await refs.createRef({ ...repo, ref: 'refs/heads/feature/ñ', sha: first })
  assert.equal(made.status, 201)
  const url = `${forge.web}/api/v3${engine}/git/refs/heads/feature/%C3%B1`
  assert.equal(made.headers.location, url)
  assert.partialDeepStrictEqual(made.data, {
    ref: 'refs/heads/feature/ñ',
    url,
    object: { type: 'commit', sha: first, url: `${forge.web}/api/v3${engine}/git/commits/${first}` },
  })
  assert.deepEqual((await refs.getRef({ ...repo, ref: 'heads/feature/ñ' })).data, made.data)
  assert.deepEqual(await forge.nobody.read(url), made.data)
  assert.deepEqual((await refs.listMatchingRefs({ ...repo, ref: 'heads/fea' })).data, [made.data])
  assert.equal((await refs.updateRef({ ...repo, ref: 'heads/feature/ñ', sha: second })).data.object.sha, second)
  assert.deepEqual(await forge.known(), { 'refs/heads/main': second, 'refs/heads/feature/ñ': second })
  assert.equal((await refs.deleteRef({ ...repo, ref: 'heads/feature/ñ' })).status, 204)
  assert.deepEqual(await forge.known(), { 'refs/heads/main': second })
  assert.equal(await inside(forge, forge.id, 'for-each-ref', '--format=%(refname)'), 'refs/heads/main')
  const events = await forge.events()
  assert.deepEqual([events[0], events.at(-1)], ['CreateEvent feature/ñ', 'DeleteEvent feature/ñ'])
  assert.ok(events.includes('PushEvent refs/heads/feature/ñ'))
}))

test('refs are listed by prefix, or all together', inject(async ({ ada, first, nobody }) => {
  for (const ref of ['refs/heads/feature-a', 'refs/heads/feature-b', 'refs/heads/feature/c', 'refs/tags/v1']) {
    await expect(201, await ada.post(`${engine}/git/refs`, { ref, sha: first }))
  }
  const names = async (path: string) => (await nobody.read(`${engine}/git/${path}`)).map(({ ref }: { ref: string }) => ref)
  assert.deepEqual(await names('matching-refs/heads/feature-'), ['refs/heads/feature-a', 'refs/heads/feature-b'])
  assert.deepEqual(await names('matching-refs/heads/feature/'), ['refs/heads/feature/c'])
  assert.deepEqual(await names('matching-refs/tags'), ['refs/tags/v1'])
  for (const path of ['matching-refs/heads/*', 'matching-refs/zzz', 'matching-refs/heads/%5B'])
    assert.deepEqual(await names(path), [])
  assert.equal((await names('refs')).length, 5)
  assert.deepEqual(await names('matching-refs/'), await names('refs'))
  for (const path of ['ref/heads/feature', 'ref/heads', 'ref/heads/feature-*', 'ref/', 'ref/..%2fx', 'refs/heads/nope']) {
    assert.equal((await nobody.get(`${engine}/git/${path}`)).status, 404, path)
  }
}))

test('an annotated tag is an object of its own', inject(async (forge) => {
  await inside(forge, forge.id, 'tag', '-a', '-m', 'note', 'kept', forge.first)
  const sha = await inside(forge, forge.id, 'rev-parse', 'refs/tags/kept')
  const made = await expect(201, await forge.ada.post(`${engine}/git/refs`, { ref: 'refs/tags/v1', sha }))
  assert.partialDeepStrictEqual(made.object, { type: 'tag', sha })
  assert.equal((await forge.ada.post(`${engine}/git/refs`, { ref: 'refs/heads/v1', sha })).status, 422, 'a branch is a commit')
  assert.equal((await forge.nobody.read(`${engine}/commits/v1`)).sha, forge.first)
  const moved = await expect(200, await forge.ada.patch(`${engine}/git/refs/tags/v1`, { sha: forge.second }))
  assert.partialDeepStrictEqual(moved.object, { type: 'commit', sha: forge.second })
  const blob = await inside(forge, forge.id, 'rev-parse', `${forge.second}:a`)
  assert.equal((await forge.ada.patch(`${engine}/git/refs/tags/v1`, { sha: blob })).status, 422)
  await expect(200, await forge.ada.patch(`${engine}/git/refs/tags/v1`, { sha: blob, force: true }))
  assert.equal((await forge.nobody.get(`${engine}/commits/v1`)).status, 422)
}))

test('a branch goes back only by force', inject(async ({ ada, first, second, events, known }) => {
  const main = `${engine}/git/refs/heads/main`
  const refused = await expect(422, await ada.patch(main, { sha: first }))
  assert.equal(refused.message, 'Update is not a fast forward')
  await expect(200, await ada.patch(main, { sha: second }))
  assert.deepEqual(await events(), [], 'where it is already, nothing happens')
  await expect(200, await ada.patch(main, { sha: first, force: true }))
  assert.deepEqual(await known(), { 'refs/heads/main': first })
  assert.deepEqual(await events(), ['PushEvent refs/heads/main'])
}))

test('invalid refs, invalid objects and missing ones are refused', inject(async ({ ada, first: sha, known, second, logged }) => {
  const make = (body: Record<string, unknown>) => ada.post(`${engine}/git/refs`, body)
  const names = [
    'main',
    'heads/x',
    'refs/x',
    'refs/heads/',
    'refs//x',
    'refs/heads/a..b',
    'refs/heads/a b',
    'refs/heads/x.lock',
    'refs/heads/-\n',
  ]
  for (const ref of [
    ...names,
    'refs/heads/~',
    'refs/heads/@{',
    'refs/heads/.x',
    'refs/heads/\ud800',
    'refs/pull/1/head',
    7,
    null,
  ]) {
    assert.equal((await make({ ref, sha })).status, 422, String(ref))
  }
  for (const bad of ['f'.repeat(40), '0'.repeat(40)]) {
    assert.equal((await expect(422, await make({ ref: 'refs/heads/x', sha: bad }))).message, 'Object does not exist')
  }
  for (const bad of ['main', sha.slice(0, 8), `${sha}^`, '', null])
    assert.equal((await make({ ref: 'refs/heads/x', sha: bad })).status, 422)
  assert.equal((await expect(422, await make({ ref: 'refs/heads/main', sha }))).message, 'Reference already exists')
  assert.ok(
    [409, 422].includes((await make({ ref: 'refs/heads/main/below', sha })).status),
    'a name below that of a branch is taken',
  )
  for (const answer of [
    await ada.patch(`${engine}/git/refs/heads/nope`, { sha }),
    await ada.delete(`${engine}/git/refs/heads/nope`),
    await ada.delete(`${engine}/git/refs/tags/main`),
  ]) {
    assert.equal((await expect(422, answer)).message, 'Reference does not exist')
  }
  assert.equal((await ada.delete(`${engine}/git/refs/heads/main`)).status, 422, 'the default branch stays')
  assert.equal((await ada.delete(`${engine}/git/refs/`)).status, 422)
  assert.deepEqual(await known(), { 'refs/heads/main': second })
  assert.deepEqual(errorsOf({ logged }), [])
}))

test('an empty repository has no refs, and none can be created', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const answers = [
    await ada.get(`${engine}/git/ref/heads/main`),
    await ada.get(`${engine}/git/matching-refs/heads`),
    await ada.get(`${engine}/git/refs`),
    await ada.post(`${engine}/git/refs`, { ref: 'refs/heads/x', sha: 'f'.repeat(40) }),
    await ada.get(`${engine}/commits/main`),
  ]
  for (const answer of answers) assert.equal((await expect(409, answer)).message, 'Git Repository is empty.')
  assert.deepEqual(await ada.read(`${engine}/branches`), [])
  const ben = await forge.person('ben')
  await expect(202, await ben.post(`${engine}/forks`))
  assert.equal((await ben.get('/repos/ben/engine/git/refs')).status, 409)
  assert.equal((await ben.patch('/repos/ben/engine/git/refs/heads/main', { sha: 'f'.repeat(40) })).status, 422)
  assert.equal((await ben.post('/repos/ben/engine/git/refs', { ref: 'refs/heads/x', sha: 'f'.repeat(40) })).status, 409)
})

test('of concurrent requests to create a ref, one succeeds, and there is one event', inject(async ({ first, ada, events }) => {
  const body = { ref: 'refs/tags/once', sha: first }
  const answers = await Promise.all(Array.from({ length: 8 }, () => ada.post(`${engine}/git/refs`, body)))
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 1)
  assert.ok(
    statuses.every((status) => [201, 409, 422].includes(status)),
    statuses.join(),
  )
  assert.deepEqual(await events(), ['CreateEvent once'])
}))

test('moving a ref requires push access and a repository that is not archived', inject(async (forge) => {
  const ben = await forge.person('ben')
  const body = { ref: 'refs/heads/x', sha: forge.first }
  const main = `${engine}/git/refs/heads/main`
  for (const who of [forge.nobody, ben, await forge.tokenFor('ada', ['gist'])]) {
    const status = who === forge.nobody ? 401 : 403
    assert.equal((await who.post(`${engine}/git/refs`, body)).status, status)
    assert.equal((await who.patch(main, { sha: forge.first, force: true })).status, status)
    assert.equal((await who.delete(main)).status, status)
  }
  await expect(200, await forge.ada.patch(engine, { archived: true }))
  for (const answer of [await forge.ada.post(`${engine}/git/refs`, body), await forge.ada.delete(`${engine}/git/refs/heads/x`)]) {
    assert.equal((await expect(403, answer)).message, 'Repository was archived so is read-only.')
  }
  await expect(200, await forge.ada.patch(engine, { archived: false, private: true }))
  for (const path of ['git/refs', 'git/ref/heads/main', 'git/matching-refs/heads', 'branches', 'branches/main', 'commits/main']) {
    for (const who of [forge.nobody, ben]) assert.equal((await who.get(`${engine}/${path}`)).status, 404, path)
    await forge.ada.read(`${engine}/${path}`)
  }
}))

test("branches and commits have their authors' accounts", inject(async ({ ada, first, second, web, nobody }) => {
  const { repos } = new Octokit({ baseUrl: `${web}/api/v3`, auth: ada.token })
  const repo = { owner: 'ada', repo: 'engine' }
  const identity = { name: 'Ada', email: 'Ada@Example.com' }
  const body = { message: 'Third', content: '', branch: 'dev/one', author: identity, committer: { name: 'X', email: 'x@x' } }
  await expect(201, await ada.post(`${engine}/git/refs`, { ref: 'refs/heads/dev/one', sha: second }))
  const { commit } = await expect(201, await ada.put(`${engine}/contents/b`, body))
  const { data: branches } = await repos.listBranches(repo)
  assert.deepEqual(linesOf(branches, 'name', 'commit.sha'), [`dev/one ${commit.sha}`, `main ${second}`])
  assert.match((await ada.get(`${engine}/branches?per_page=1`)).headers.get('link') ?? '', /rel="next"/)
  const { data: branch } = await repos.getBranch({ ...repo, branch: 'dev/one' })
  assert.partialDeepStrictEqual(branch, {
    name: 'dev/one',
    protected: false,
    commit: { sha: commit.sha, author: { login: 'ada' } },
  })
  assert.equal(branch.commit.committer, null)
  assert.equal((await expect(404, await ada.get(`${engine}/branches/nope`))).message, 'Branch not found')
  for (const ref of ['main', second, second.slice(0, 7), 'heads/main']) {
    const { data } = await repos.getCommit({ ...repo, ref })
    assert.partialDeepStrictEqual(data, {
      sha: second,
      commit: { message: 'Second', author: { name: 'ada' } },
      author: { login: 'ada' },
      committer: { login: 'ada' },
      parents: [{ sha: first }],
    })
    assert.equal((await nobody.read(data.url)).sha, second)
  }
  for (const ref of ['nope', 'main~1', '--all', 'main..dev', 'f'.repeat(40), '']) {
    assert.equal((await ada.get(`${engine}/commits/${ref}`)).status, 422, ref)
  }
}))

test('tags are listed by version with the commits that they lead to', async () => {
  await using opened = await openEngine()
  const { work, ada, forge } = opened
  assert.deepEqual(await ada.read('/repos/ada/engine/tags'), [])
  const first = await work.commit('First')
  await work.git('tag', 'v1.9')
  await work.git('tag', '-m', 'Ten', 'v1.10')
  await work.git('tag', 'folder', 'HEAD^{tree}')
  await work.push('HEAD', '--tags')
  const tags = await forge.nobody.read('/repos/ada/engine/tags?per_page=5')
  assert.deepEqual(linesOf(tags, 'name', 'commit.sha'), [`v1.10 ${first}`, `v1.9 ${first}`])
  assert.match((await ada.get('/repos/ada/engine/tags?per_page=1')).headers.get('link') ?? '', /page=2>; rel="last"/)
  await checkContracts(ada, () => [['repos/list-tags', 'get', '/repos/ada/engine/tags']])
})
