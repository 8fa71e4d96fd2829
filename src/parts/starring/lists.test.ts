import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { type Client, expect, openForge } from '#test/forge.ts'

const logins = (people: { login: string }[]) => people.map((person) => person.login)
const names = (repos: { full_name: string }[]) => repos.map((repo) => repo.full_name)
const star = async (who: Client, repo: string) => assert.equal((await who.put(`/user/starred/${repo}`)).status, 204, repo)

/** Ada's repository, and the users Ben and Cy. */
async function openEngine() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await ada.owns('engine')
  return Object.assign(forge, { ada, ben, cy })
}

test('stargazers are listed oldest first in pages', async () => {
  await using forge = await openEngine()
  for (const who of [forge.cy, forge.ada, forge.ben]) {
    await star(who, 'ada/engine')
    forge.clock.advance(1000)
  }
  assert.deepEqual(logins(await forge.nobody.read('/repos/ada/engine/stargazers')), ['cy', 'ada', 'ben'])
  const path = '/repos/ada/engine/stargazers?per_page=2'
  const page = await forge.nobodyVersioned.get(path)
  const at = (number: number) => `<${forge.versioned}${path}&page=${number}>`
  assert.equal(page.headers.get('link'), `${at(2)}; rel="next", ${at(2)}; rel="last"`)
  assert.deepEqual(logins(await expect(200, page)), ['cy', 'ada'])
  assert.deepEqual(logins(await forge.nobodyVersioned.read(`${path}&page=2`)), ['ben'])
  assert.deepEqual(await forge.nobody.read(`${path}&page=3`), [])
})

test('pagination of stargazers is limited', async () => {
  await using forge = await openEngine()
  await star(forge.ben, 'ada/engine')
  for (const nobody of [forge.nobody, forge.nobodyVersioned]) {
    assert.deepEqual(await nobody.read('/repos/ada/engine/stargazers?per_page=100&page=400'), [])
    const refused = await expect(422, await nobody.get('/repos/ada/engine/stargazers?per_page=100&page=401'))
    assert.equal(refused.message, 'In order to keep the API fast for everyone, pagination is limited for this resource.')
    assert.equal(refused.status, '422')
  }
  await forge.belfry.db.query(sql`update repositories set stargazers_count = 1000000`)
  const first = await forge.nobody.get('/repos/ada/engine/stargazers?per_page=100')
  assert.match(first.headers.get('link') ?? '', /page=400>; rel="last"/)
})

test('a star shows its time in both spellings of the media type and both dialects', async () => {
  await using forge = await openEngine()
  await star(forge.ben, 'ada/engine')
  for (const brand of ['service', 'github']) {
    for (const version of ['', '.v3']) {
      const accept = `application/vnd.${brand}${version}.star+json`
      for (const base of [forge.ben, forge.ben.versioned]) {
        const ben = base.with({ accept })
        const answer = await ben.get('/repos/ada/engine/stargazers')
        assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
        const header = brand === 'github' ? 'x-github-media-type' : 'x-service-media-type'
        assert.equal(answer.headers.get(header), `${brand}.v3; param=star; format=json`)
        const [stargazer] = await expect(200, answer)
        assert.deepEqual(Object.keys(stargazer).sort(), ['starred_at', 'user'])
        assert.equal(stargazer.starred_at, '2026-02-03T04:05:06Z')
        assert.equal(stargazer.user.login, 'ben')
        for (const path of ['/user/starred', '/users/ben/starred']) {
          const [item] = await ben.read(path)
          assert.deepEqual(Object.keys(item).sort(), ['repo', 'starred_at'])
          assert.equal(item.starred_at, '2026-02-03T04:05:06Z')
          assert.equal(item.repo.full_name, 'ada/engine')
        }
      }
    }
  }
  const [plain] = await forge.ben.read('/user/starred')
  assert.ok(!('starred_at' in plain) && !('repo' in plain))
})

test('starred repositories have the fields that only these lists have', async () => {
  await using forge = await openEngine()
  await expect(202, await forge.cy.post('/repos/ada/engine/forks'))
  await forge.ada.owns('other')
  for (const repo of ['ada/engine', 'cy/engine', 'ada/other']) await star(forge.ben, repo)
  const kinds = {
    string: 'clone_url svn_url default_branch pushed_at created_at updated_at',
    number: 'forks_count stargazers_count watchers_count size open_issues_count subscribers_count network_count',
    boolean: `is_template has_issues has_projects has_wiki has_pages has_downloads archived disabled allow_rebase_merge allow_squash_merge
      allow_merge_commit anonymous_access_enabled`,
  }
  const lists: [Client, string][] = [
    [forge.ben, '/user/starred'],
    [forge.ada.versioned, '/users/ben/starred'],
    [forge.nobody, '/users/ben/starred'],
    [forge.nobodyVersioned.with({ 'x-service-api-version': '2026-03-10' }), '/users/ben/starred'],
  ]
  for (const [who, path] of lists) {
    const repos = await who.read(path)
    for (const repo of repos) {
      for (const [kind, fields] of Object.entries(kinds)) {
        for (const field of fields.split(/\s+/)) assert.equal(typeof repo[field], kind, field)
      }
      for (const field of ['language', 'template_repository']) assert.equal(repo[field], null, field)
      for (const field of ['mirror_url', 'homepage']) assert.equal(repo[field], '', field)
      assert.deepEqual(repo.topics, [])
      assert.equal(repo.permissions.pull, true)
    }
    const networks = Object.fromEntries(repos.map((repo: Record<string, unknown>) => [repo.full_name, repo.network_count]))
    assert.deepEqual(networks, { 'ada/engine': 2, 'cy/engine': 2, 'ada/other': 1 })
  }
  const github = forge.nobody.with({ accept: 'application/vnd.github+json' })
  assert.partialDeepStrictEqual((await github.read('/users/ben/starred'))[0], { mirror_url: null, homepage: null })
})

test('a starred repository shows its template to users who may see it, and empty texts in the dialect of the spec', async () => {
  await using forge = await openEngine()
  const { ada, ben } = forge
  await ada.owns('mould', { is_template: true, auto_init: true })
  await expect(201, await ada.post('/repos/ada/mould/generate', { name: 'cast' }))
  for (const name of ['cast', 'engine']) await star(ben, `ada/${name}`)
  const templates = async (path: string) =>
    (await ben.read(path)).map(
      (repo: { template_repository: { full_name: string } | null }) => repo.template_repository?.full_name,
    )
  for (const path of ['/user/starred?direction=asc', '/users/ben/starred?direction=asc']) {
    assert.deepEqual((await templates(path)).toSorted(), ['ada/mould', undefined])
  }
  await expect(200, await ada.patch('/repos/ada/mould', { private: true }))
  assert.deepEqual(await templates('/user/starred'), [undefined, undefined])
  const github = ben.with({ accept: 'application/vnd.github+json' })
  const engine = async (client: Client) =>
    (await client.read('/user/starred')).find(({ name }: { name: string }) => name === 'engine')
  const shown = await engine(ben)
  assert.deepEqual([shown.description, shown.homepage], ['', ''])
  const documented = await engine(github)
  assert.deepEqual([documented.description, documented.homepage], [null, null])
})

test('starred repositories are sorted by star or push in both directions, and invalid values use the default', async () => {
  await using forge = await openEngine()
  const { ada, ben } = forge
  await ada.owns('abacus')
  await ada.owns('clock')
  for (const name of ['engine', 'clock', 'abacus']) {
    await star(ben, `ada/${name}`)
    forge.clock.advance(1000)
  }
  await forge.belfry.db.query(sql`
    update repositories set pushed_at = ${forge.clock.now()}::timestamptz + (case name when 'abacus' then 1 when 'engine' then 2 else 3 end) * interval '1 day'`)
  const byStar = ['ada/abacus', 'ada/clock', 'ada/engine']
  const byPush = ['ada/clock', 'ada/engine', 'ada/abacus']
  for (const [query, wanted] of [
    ['', byStar],
    ['?sort=created', byStar],
    ['?sort=junk&direction=junk', byStar],
    ['?direction=asc', byStar.toReversed()],
    ['?sort=updated', byPush],
    ['?sort=updated&direction=desc', byPush],
    ['?sort=updated&direction=asc', byPush.toReversed()],
  ] as const) {
    assert.deepEqual(names(await ben.read(`/user/starred${query}`)), wanted, query)
    assert.deepEqual(names(await forge.nobodyVersioned.read(`/users/ben/starred${query}`)), wanted, query)
  }
  const page = await ben.get('/user/starred?sort=updated&per_page=2')
  const at = `<${forge.web}/api/v3/user/starred?sort=updated&per_page=2&page=2>`
  assert.equal(page.headers.get('link'), `${at}; rel="next", ${at}; rel="last"`)
  assert.deepEqual(names(await ben.read('/user/starred?sort=updated&per_page=2&page=2')), ['ada/abacus'])
})

test('a star of a private repository is shown only with access, and survives losing it', async () => {
  await using forge = await openEngine()
  const { ada, ben, cy } = forge
  await ada.owns('secret', { private: true })
  assert.equal((await ben.put('/user/starred/ada/secret')).status, 404)
  assert.equal((await ben.get('/user/starred/ada/secret')).status, 404)
  assert.equal((await ben.delete('/user/starred/ada/secret')).status, 404)
  const { id } = await expect(201, await ada.put('/repos/ada/secret/collaborators/ben'))
  assert.equal((await ben.patch(`/user/repository_invitations/${id}`)).status, 204)
  await star(ben, 'ada/secret')
  await star(ben, 'ada/engine')
  const both = ['ada/engine', 'ada/secret']
  assert.deepEqual(names(await ben.read('/user/starred')).sort(), both)
  assert.deepEqual(names(await ada.read('/users/ben/starred')).sort(), both)
  assert.deepEqual(names(await cy.read('/users/ben/starred')), ['ada/engine'])
  assert.deepEqual(names(await forge.nobody.read('/users/ben/starred')), ['ada/engine'])
  assert.equal((await forge.nobody.get('/repos/ada/secret/stargazers')).status, 404)
  assert.equal((await cy.get('/repos/ada/secret/stargazers/count')).status, 404)
  const narrow = await forge.tokenFor('ben', ['public_repo'])
  assert.deepEqual(names(await narrow.read('/user/starred')), ['ada/engine'])
  assert.equal((await narrow.get('/user/starred/ada/secret')).status, 404)
  assert.equal((await narrow.delete('/user/starred/ada/secret')).status, 404)
  assert.equal((await ada.delete('/repos/ada/secret/collaborators/ben')).status, 204)
  assert.deepEqual(names(await ben.read('/user/starred')), ['ada/engine'])
  assert.equal((await ben.get('/user/starred/ada/secret')).status, 404)
  assert.equal((await ada.read('/repos/ada/secret/stargazers/count')).count, 1, 'the star stays')
  await expect(200, await ada.patch('/repos/ada/secret', { private: false }))
  assert.deepEqual(names(await ben.read('/user/starred')).sort(), both)
})

test('an unchanged list of stars is a 304', async () => {
  await using forge = await openEngine()
  await star(forge.ben, 'ada/engine')
  for (const path of ['/user/starred', '/users/ben/starred', '/repos/ada/engine/stargazers']) {
    const etag = (await forge.ben.get(path)).headers.get('etag') ?? ''
    const again = forge.ben.with({ 'if-none-match': etag })
    assert.equal((await again.get(path)).status, 304, path)
  }
  const path = '/repos/ada/engine/stargazers'
  const etag = (await forge.ben.get(path)).headers.get('etag') ?? ''
  await star(forge.cy, 'ada/engine')
  assert.equal((await forge.ben.with({ 'if-none-match': etag }).get(path)).status, 200)
})
