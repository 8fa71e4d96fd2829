import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { openInitialized } from '#test/conversations.ts'
import { errorsOf, expect, type Forge, injecting, linesOf } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'
import { loadReleases } from './releases.ts'

const inject = injecting(openWithEngine)
const engine = '/repos/ada/engine'
const inside = async (forge: Forge, id: number, ...args: string[]) =>
  (await git(['-C', forge.belfry.storage.pathOf(id), '-c', 'user.name=x', '-c', 'user.email=x@x', ...args])).trim()

async function openWithEngine() {
  const forge = await openInitialized()
  const { id } = forge
  const main = await inside(forge, id, 'rev-parse', 'main')
  const tags = () => inside(forge, id, 'for-each-ref', '--format=%(refname:short) %(objectname)', 'refs/tags')
  const statement = sql`
    select type, coalesce(payload->>'ref', payload->>'release_id') as what from events where repo_id = ${id} order by id offset 2`
  const events = async () => linesOf(await forge.belfry.db.rows(statement), 'type', 'what')
  return Object.assign(forge, { main, tags, events })
}

test('octokit publishes, reads, changes and deletes a release', inject(async (forge) => {
  const { repos } = new Octokit({ baseUrl: `${forge.web}/api/v3`, auth: forge.ada.token })
  const repo = { owner: 'ada', repo: 'engine' }
  const made = await repos.createRelease({ ...repo, tag_name: 'v1/ü', name: 'One', body: '*first*', make_latest: 'true' })
  assert.equal(made.status, 201)
  const { id } = made.data
  const url = `${forge.web}/api/v3${engine}/releases/${id}`
  assert.equal(made.headers.location, url)
  assert.partialDeepStrictEqual(made.data, {
    url,
    html_url: `${forge.web}/ada/engine/releases/tag/v1/%C3%BC`,
    assets_url: `${url}/assets`,
    upload_url: `${url.replace('/api/v3/', '/api/uploads/')}/assets{?name,label}`,
    tarball_url: `${forge.web}/api/v3${engine}/tarball/refs/tags/v1/%C3%BC`,
    tag_name: 'v1/ü',
    target_commitish: 'main',
    name: 'One',
    body: '*first*',
    draft: false,
    prerelease: false,
    created_at: '2026-02-03T04:05:06Z',
    published_at: '2026-02-03T04:05:06Z',
    author: { login: 'ada' },
    assets: [],
  })
  assert.equal(await forge.tags(), `v1/ü ${forge.main}`)
  const refs = await forge.belfry.db.rows(sql`select sha from refs where repo_id = ${forge.id} and name = 'refs/tags/v1/ü'`)
  assert.deepEqual(refs, [{ sha: forge.main }])
  assert.deepEqual(await forge.events(), ['CreateEvent v1/ü', `ReleaseEvent ${id}`])
  assert.deepEqual((await repos.getRelease({ ...repo, release_id: id })).data, made.data)
  assert.deepEqual((await repos.getReleaseByTag({ ...repo, tag: 'v1/ü' })).data, made.data)
  assert.deepEqual((await repos.getLatestRelease(repo)).data, made.data)
  assert.deepEqual((await repos.listReleases(repo)).data, [made.data])
  const changed = await repos.updateRelease({ ...repo, release_id: id, name: 'First', prerelease: true })
  assert.partialDeepStrictEqual(changed.data, { name: 'First', body: '*first*', prerelease: true, tag_name: 'v1/ü' })
  assert.equal((await repos.deleteRelease({ ...repo, release_id: id })).status, 204)
  await assert.rejects(repos.getRelease({ ...repo, release_id: id }), { status: 404 })
  assert.equal(await forge.tags(), `v1/ü ${forge.main}`, 'the tag stays')
  assert.equal((await forge.events()).length, 2, 'neither a change nor an end is an event')
}))

test('a draft needs push access, and publishing it creates the tag', inject(async ({ forge, ada }) => {
  const ben = await forge.person('ben')
  const draft = await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1', draft: true, target_commitish: 'nope' }))
  assert.partialDeepStrictEqual(draft, { draft: true, published_at: null, tarball_url: null, target_commitish: 'nope' })
  const one = `${engine}/releases/${draft.id}`
  for (const who of [forge.nobody, ben, await forge.tokenFor('ada', ['gist'])]) {
    assert.equal((await who.get(one)).status, 404)
    assert.deepEqual(await who.read(`${engine}/releases`), [])
  }
  assert.equal((await ada.read(`${engine}/releases`)).length, 1)
  for (const path of ['latest', 'tags/v1']) assert.equal((await ada.get(`${engine}/releases/${path}`)).status, 404)
  assert.deepEqual([await forge.tags(), await forge.events()], ['', []])
  const invalid = await expect(422, await ada.patch(one, { draft: false }))
  assert.partialDeepStrictEqual(invalid.errors, [{ resource: 'Release', code: 'invalid', field: 'target_commitish' }])
  assert.equal((await ada.read(one)).draft, true)
  forge.clock.advance(60_000)
  const published = await expect(200, await ada.patch(one, { draft: false, target_commitish: forge.main }))
  assert.partialDeepStrictEqual(published, {
    draft: false,
    created_at: '2026-02-03T04:05:06Z',
    published_at: '2026-02-03T04:06:06Z',
  })
  assert.equal(await forge.tags(), `v1 ${forge.main}`)
  await expect(200, await ada.patch(one, { draft: false, body: 'more' }))
  assert.deepEqual(await forge.events(), ['CreateEvent v1', `ReleaseEvent ${draft.id}`])
  await forge.nobody.read(one)
}))

test('a release of an existing tag leaves the tag unchanged, also an annotated one', inject(async (forge) => {
  await inside(forge, forge.id, 'tag', '-a', '-m', 'note', 'v1', 'main')
  const before = await forge.tags()
  const { id } = await expect(201, await forge.ada.post(`${engine}/releases`, { tag_name: 'v1', target_commitish: 'anything' }))
  assert.equal(await forge.tags(), before)
  assert.deepEqual(await forge.events(), [`ReleaseEvent ${id}`])
}))

test('concurrent requests publish one release of a tag', inject(async ({ ada, events, tags }) => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => ada.post(`${engine}/releases`, { tag_name: 'v1' })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422, 422, 422])
  const [release] = await ada.read(`${engine}/releases`)
  assert.deepEqual(await events(), ['CreateEvent v1', `ReleaseEvent ${release.id}`])
  const taken = await expect(422, await ada.post(`${engine}/releases`, { tag_name: 'v1' }))
  assert.partialDeepStrictEqual(taken.errors, [{ code: 'already_exists', field: 'tag_name' }])
  const draft = await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1', draft: true }))
  assert.equal((await ada.patch(`${engine}/releases/${draft.id}`, { draft: false })).status, 422)
  const other = await expect(200, await ada.patch(`${engine}/releases/${draft.id}`, { draft: false, tag_name: 'v2' }))
  assert.equal((await ada.patch(`${engine}/releases/${other.id}`, { tag_name: 'v1' })).status, 422)
  assert.equal((await expect(200, await ada.patch(`${engine}/releases/${other.id}`, { tag_name: 'v3' }))).tag_name, 'v3')
  assert.match(await tags(), /^v1 .*\nv2 .*\nv3 /)
}))

test('concurrent publishing of a draft publishes it once', inject(async ({ ada, events }) => {
  const { id } = await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1', draft: true }))
  const publish = () => ada.patch(`${engine}/releases/${id}`, { draft: false })
  for (const { status } of await Promise.all(Array.from({ length: 6 }, publish))) assert.equal(status, 200)
  assert.deepEqual(await events(), ['CreateEvent v1', `ReleaseEvent ${id}`])
}))

test('the latest release is the last published one that is not a prerelease', inject(async ({ clock, ada, nobody }) => {
  const make = async (tag_name: string, more = {}) => {
    clock.advance(1000)
    return expect(201, await ada.post(`${engine}/releases`, { tag_name, ...more }))
  }
  const waiting = await make('v9', { draft: true })
  await make('v1')
  await make('v2')
  await make('v3', { prerelease: true })
  const latest = async () => (await nobody.read(`${engine}/releases/latest`)).tag_name
  assert.equal(await latest(), 'v2')
  const shown = await nobody.read(`${engine}/releases?per_page=2`)
  assert.deepEqual(linesOf(shown, 'tag_name'), ['v3', 'v2'])
  assert.match((await nobody.get(`${engine}/releases?per_page=2`)).headers.get('link') ?? '', /page=2>; rel="last"/)
  clock.advance(1000)
  await expect(200, await ada.patch(`${engine}/releases/${waiting.id}`, { draft: false }))
  assert.equal(await latest(), 'v9')
}))

test('an invalid release is refused, and leaves nothing behind', inject(async ({ ada, events, logged }) => {
  const make = (body: Record<string, unknown>) => ada.post(`${engine}/releases`, body)
  for (const tag_name of [
    '',
    'a b',
    'a..b',
    '-\n',
    'x.lock',
    '/x',
    'x/',
    '.x',
    'a~1',
    '\ud800',
    'x'.repeat(300),
    7,
    null,
    undefined,
  ]) {
    assert.equal((await make({ tag_name })).status, 422, String(tag_name))
    assert.equal((await make({ tag_name, draft: true })).status, 422, String(tag_name))
  }
  for (const target_commitish of ['nope', 'main~0', '--all', 'f'.repeat(40), '\ud800']) {
    assert.equal((await make({ tag_name: 'v1', target_commitish })).status, 422, target_commitish)
  }
  for (const wrong of [{ name: 7 }, { body: [] }, { draft: 'yes' }, { prerelease: null }, { make_latest: true }]) {
    assert.equal((await make({ tag_name: 'v1', ...wrong })).status, 422, JSON.stringify(wrong))
  }
  await expect(201, await make({ tag_name: 'a' }))
  assert.ok([409, 422].includes((await make({ tag_name: 'a/b' })).status), 'a name below that of a tag is taken')
  assert.deepEqual((await events()).length, 2)
  assert.equal((await ada.read(`${engine}/releases`)).length, 1)
  const empty = await ada.owns('empty')
  assert.equal((await ada.post('/repos/ada/empty/releases', { tag_name: 'v1' })).status, 422)
  await expect(201, await ada.post('/repos/ada/empty/releases', { tag_name: 'v1', draft: true }))
  assert.equal((await ada.read(`/repositories/${empty.id}/releases`)).length, 1)
  assert.deepEqual(errorsOf({ logged }), [])
}))

test('releases need push access, and are found through their own repository only', inject(async ({ forge, ada }) => {
  const ben = await forge.person('ben')
  const { id } = await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1' }))
  await ben.owns('engine')
  for (const who of [forge.nobody, ben, await forge.tokenFor('ada', ['gist'])]) {
    const status = who === forge.nobody ? 401 : 403
    assert.equal((await who.post(`${engine}/releases`, { tag_name: 'v2' })).status, status)
    assert.equal((await who.patch(`${engine}/releases/${id}`, { name: 'x' })).status, status)
    assert.equal((await who.delete(`${engine}/releases/${id}`)).status, status)
  }
  assert.equal((await ben.get(`/repos/ben/engine/releases/${id}`)).status, 404)
  assert.equal((await ben.patch(`/repos/ben/engine/releases/${id}`, { name: 'x' })).status, 404)
  assert.equal((await ben.delete(`/repos/ben/engine/releases/${id}`)).status, 404)
  await expect(200, await ada.patch(engine, { archived: true }))
  assert.equal((await ada.post(`${engine}/releases`, { tag_name: 'v2' })).status, 403)
  assert.equal((await ada.patch(`${engine}/releases/${id}`, { name: 'x' })).status, 403)
  assert.equal((await ada.delete(`${engine}/releases/${id}`)).status, 403)
  await expect(200, await ada.patch(engine, { archived: false, private: true }))
  for (const path of ['', '/latest', `/${id}`, '/tags/v1']) assert.equal((await ben.get(`${engine}/releases${path}`)).status, 404)
}))

test('a list of releases takes a constant number of statements', inject(async ({ ada, belfry }) => {
  const ids: number[] = []
  for (const tag_name of ['v1', 'v2']) ids.push((await expect(201, await ada.post(`${engine}/releases`, { tag_name }))).id)
  const loaded = await loadReleases(belfry.db, [...ids, 999])
  assert.deepEqual(loaded.map(({ tag_name, author_login }) => `${tag_name} ${author_login}`).sort(), ['v1 ada', 'v2 ada'])
}))
