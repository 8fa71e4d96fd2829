import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { expect, type Forge, injecting, openForge, withPeople } from '#test/forge.ts'

const inject = injecting(withPeople('ada'))
const names = (repos: { full_name: string }[]) => repos.map((repo) => repo.full_name)
/** Waits for a background job. */
const patience = { interval: 20, timeout: 60_000 }
const inside = (forge: Forge, id: number, ...args: string[]) => git(['-C', forge.belfry.storage.pathOf(id), ...args])

test('a repository is created with the requested options', inject(async ({ ada, web }) => {
  const options = {
    description: 'Turns numbers',
    homepage: 'https://engine.example',
    private: true,
    is_template: true,
    has_issues: false,
    has_projects: false,
    has_wiki: false,
    allow_rebase_merge: false,
    allow_squash_merge: false,
    allow_merge_commit: false,
  }
  const answer = await ada.post('/user/repos', { name: 'engine', ...options })
  assert.equal(answer.headers.get('location'), `${web}/api/v3/repos/ada/engine`)
  const made = await expect(201, answer)
  assert.partialDeepStrictEqual(made, {
    ...options,
    full_name: 'ada/engine',
    visibility: 'private',
    default_branch: 'main',
    size: 0,
    fork: false,
    network_count: 1,
    created_at: '2026-02-03T04:05:06Z',
    permissions: { admin: true, maintain: true, push: true, triage: true, pull: true },
  })
  assert.deepEqual(await ada.read('/repos/ADA/Engine'), made)
  assert.deepEqual(await ada.read(`/repositories/${made.id}`), made)
}))

test('by default, a repository is public and has every feature', inject(async ({ ada, nobody }) => {
  await ada.owns('engine')
  const seen = await nobody.read('/repos/ada/engine')
  assert.partialDeepStrictEqual(seen, {
    private: false,
    visibility: 'public',
    has_issues: true,
    has_wiki: true,
    allow_merge_commit: true,
    archived: false,
    topics: [],
    description: null,
  })
  assert.deepEqual(seen.permissions, { admin: false, maintain: false, push: false, triage: false, pull: true })
}))

test('visibility overrides private', inject(async ({ ada }) => {
  assert.equal((await ada.owns('diary', { visibility: 'private' })).private, true)
  assert.equal((await ada.owns('engine', { visibility: 'public', private: true })).private, false)
  assert.equal((await ada.post('/user/repos', { name: 'inner', visibility: 'internal' })).status, 422)
  const shown = await expect(200, await ada.patch('/repos/ada/diary', { visibility: 'public' }))
  assert.partialDeepStrictEqual(shown, { private: false, visibility: 'public' })
}))

test('auto_init creates a first commit that git can read', inject(async ({ forge, ada }) => {
  await expect(200, await ada.patch('/user', { name: '<>' }))
  const { id, size } = await ada.owns('My Engine', { auto_init: true, description: 'Turns numbers' })
  assert.ok(size >= 0)
  assert.equal(await inside(forge, id, 'log', '--format=%s|%an|%ai', 'main'), 'Initial commit|ada|2026-02-03 04:05:06 +0000\n')
  assert.equal(await inside(forge, id, 'show', 'main:README.md'), '# My-Engine\n\nTurns numbers\n')
  assert.equal(await inside(forge, id, 'symbolic-ref', 'HEAD'), 'refs/heads/main\n')
  await inside(forge, id, 'fsck', '--strict')
  const empty = await ada.owns('empty')
  assert.equal(await inside(forge, empty.id, 'for-each-ref'), '')
}))

test('invalid characters of a name become hyphens', inject(async ({ ada }) => {
  for (const [asked, given] of [
    ['  my repo ', 'my-repo'],
    ['größe&co', 'gr-e-co'],
    ['a.b_c-D', 'a.b_c-D'],
    ['.profile', '.profile'],
  ] as const) {
    const made = await ada.owns(asked)
    assert.equal(made.name, given)
    assert.equal((await ada.get(`/repos/ada/${given}`)).status, 200)
  }
  for (const refused of ['.', '..', '   ', 'engine.git', 'engine.wiki', 'x'.repeat(101)]) {
    assert.equal((await ada.post('/user/repos', { name: refused })).status, 422, refused)
  }
  const missing = await expect(422, await ada.post('/user/repos', {}))
  assert.equal(missing.message, 'Invalid request.\n\n"name" wasn\'t supplied.')
}))

test('names are unique in an account, ignoring case', inject(async ({ ada, person }) => {
  const ben = await person('ben')
  await ada.owns('engine')
  const refused = await expect(422, await ada.post('/user/repos', { name: 'ENGINE' }))
  assert.equal(refused.message, 'Validation Failed')
  assert.partialDeepStrictEqual(refused.errors, [{ resource: 'Repository', code: 'custom', field: 'name' }])
  assert.match(refused.errors[0].message, /^name already exists on this account/)
  await ben.owns('engine')
}))

test('of concurrent requests for one name, one succeeds', inject(async ({ forge, ada }) => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ada.post('/user/repos', { name: 'engine', auto_init: true })),
  )
  const statuses = answers.map((answer) => answer.status).sort()
  assert.deepEqual(statuses, [201, ...Array<number>(19).fill(422)])
  assert.deepEqual(names(await ada.read('/user/repos')), ['ada/engine'])
  const { id } = await ada.read('/repos/ada/engine')
  await inside(forge, id, 'rev-parse', 'main')
}))

test('PATCH changes the given fields, and returns the whole repository', inject(async ({ ada, clock }) => {
  await ada.owns('engine', { description: 'Old', homepage: 'https://engine.example' })
  clock.advance(60_000)
  const changed = await expect(200, await ada.patch('/repos/ada/engine', { description: 'New', has_wiki: false, archived: true }))
  assert.partialDeepStrictEqual(changed, {
    description: 'New',
    homepage: 'https://engine.example',
    has_wiki: false,
    archived: true,
    private: false,
    updated_at: '2026-02-03T04:06:06Z',
  })
  assert.deepEqual(await ada.read('/repos/ada/engine'), changed)
  assert.equal((await ada.patch('/repos/ada/engine', { has_wiki: 'no' })).status, 422)
}))

test('concurrent changes of a repository are all kept', inject(async ({ ada }) => {
  const { id } = await ada.owns('engine')
  const changes = { name: 'motor', private: true, description: 'New', has_wiki: false, has_issues: false, archived: true }
  const parts = Object.entries(changes).map(([field, value]) => ada.patch(`/repositories/${id}`, { [field]: value }))
  for (const answer of await Promise.all(parts)) assert.equal(answer.status, 200)
  assert.partialDeepStrictEqual(await ada.read(`/repositories/${id}`), changes)
}))

test('the default branch must exist, and git’s HEAD follows it', async (t) => {
  await using forge = await openForge({ worker: true })
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine', { auto_init: true })
  for (const branch of ['absent', 'mai*', '../main', '-x']) {
    const refused = await expect(422, await ada.patch('/repos/ada/engine', { default_branch: branch }))
    assert.partialDeepStrictEqual(refused.errors, [{ code: 'invalid', field: 'default_branch' }])
  }
  await inside(forge, id, 'branch', 'trunk', 'main')
  const changed = await expect(200, await ada.patch('/repos/ada/engine', { default_branch: 'trunk' }))
  assert.equal(changed.default_branch, 'trunk')
  await t.waitFor(async () => assert.equal(await inside(forge, id, 'symbolic-ref', 'HEAD'), 'refs/heads/trunk\n'), patience)
})

test('lists show visible repositories, in the requested order', inject(async ({ ada, person, clock, nobody, tokenFor }) => {
  const ben = await person('ben')
  for (const [name, options] of Object.entries({ Beam: {}, axle: { private: true }, cog: {} })) {
    clock.advance(1000)
    await ada.owns(name, options)
  }
  await ben.owns('own')
  assert.deepEqual(names(await ada.read('/user/repos')), ['ada/axle', 'ada/Beam', 'ada/cog'])
  assert.deepEqual(names(await ada.read('/user/repos?sort=created')), ['ada/cog', 'ada/axle', 'ada/Beam'])
  assert.deepEqual(names(await ada.read('/user/repos?sort=created&direction=asc')), ['ada/Beam', 'ada/axle', 'ada/cog'])
  assert.deepEqual(names(await ada.read('/user/repos?visibility=private')), ['ada/axle'])
  assert.deepEqual(names(await ada.read('/user/repos?type=public')), ['ada/Beam', 'ada/cog'])
  assert.deepEqual(names(await ada.read('/users/ada/repos')), ['ada/axle', 'ada/Beam', 'ada/cog'])
  for (const outsider of [nobody, ben, await tokenFor('ada', ['public_repo'])]) {
    assert.deepEqual(names(await outsider.read('/users/ada/repos')), ['ada/Beam', 'ada/cog'])
  }
  const first = await ada.get('/user/repos?per_page=1')
  assert.match(first.headers.get('link') ?? '', /per_page=1&page=3>; rel="last"$/)
}))

test('deleting a repository removes its folder and frees its name', async (t) => {
  await using forge = await openForge({ worker: true })
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine', { auto_init: true })
  assert.equal((await (await forge.tokenFor('ada', ['repo'])).delete('/repos/ada/engine')).status, 403)
  assert.equal((await ada.delete('/repos/ada/engine')).status, 204)
  assert.equal((await ada.get('/repos/ada/engine')).status, 404)
  assert.equal((await ada.get(`/repositories/${id}`)).status, 404)
  await t.waitFor(() => assert.ok(!forge.belfry.storage.has(id)), patience)
  assert.notEqual((await ada.owns('engine')).id, id)
})

test('links use the base of the requested variant, and every version has has_downloads', inject(async ({ forge, ada }) => {
  await ada.owns('engine')
  const [here, there] = [await ada.read('/repos/ada/engine'), await ada.versioned.read('/repos/ada/engine')]
  assert.equal(here.url, `${forge.web}/api/v3/repos/ada/engine`)
  assert.equal(there.url, `${forge.versioned}/repos/ada/engine`)
  assert.equal(there.owner.url, `${forge.versioned}/users/ada`)
  assert.equal(there.clone_url, `${forge.web}/ada/engine.git`)
  assert.equal(here.has_downloads, true)
  assert.equal(there.has_downloads, true)
  const slim = ada.versioned.with({ 'x-service-api-version': '2026-03-10' })
  assert.equal((await slim.read('/repos/ada/engine')).has_downloads, true)
  assert.equal((await slim.read('/user/repos'))[0].has_downloads, true)
}))
