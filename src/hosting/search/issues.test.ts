import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine, fineGrained, openWithEngine } from '#test/conversations.ts'
import { assertDocumented } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf, type Person } from '#test/forge.ts'

/** Issues of a public and of a private repository, which only Ada sees. */
const inject = injecting(async () => {
  const forge = await openWithEngine()
  const { ada, ben, clock } = forge
  await ada.owns('plans', { private: true })
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'Version two' }))
  const make = async (body: Record<string, unknown>, who: Person = ada, path = engine) => {
    await expect(201, await who.post(`${path}/issues`, body))
    clock.advance(86_400_000)
  }
  await make({ title: 'The boiler crashes', body: 'Steam everywhere', labels: ['bug', 'hot water'], assignees: ['ben'] })
  await make({ title: 'Paint it red', body: 'The boiler, @Cy, looks dull', milestone: 1 }, ben)
  await make({ title: 'Quiet valve', body: 'Mail cy@example.com or `@cy`' })
  await make({ title: 'Secret boiler', body: '@cy' }, ada, '/repos/ada/plans')
  await expect(201, await ben.post(`${engine}/issues/3/comments`, { body: 'It whistles. @dan?' }))
  await expect(200, await ada.patch(`${engine}/issues/3`, { state: 'closed', state_reason: 'not_planned' }))
  const find = async (q: string, who = forge.dan, more = '') => {
    const { items, total_count } = await who.read(`/search/issues?q=${encodeURIComponent(q)}${more}`)
    assert.equal(items.length, total_count)
    return linesOf(items, 'title')
  }
  return Object.assign(forge, { find })
})

test('words are found in titles, bodies and comments, titles first', inject(async ({ find }) => {
  assert.deepEqual(await find('boiler'), ['The boiler crashes', 'Paint it red'])
  assert.deepEqual(await find('crash'), ['The boiler crashes'], 'by their stem')
  assert.deepEqual(await find('whistle'), ['Quiet valve'])
  assert.deepEqual(await find('boiler in:title'), ['The boiler crashes'])
  assert.deepEqual(await find('boiler in:body'), ['Paint it red'])
  assert.deepEqual(await find('whistle in:title,body'), [])
  assert.deepEqual(await find('whistle in:comments'), ['Quiet valve'])
  assert.deepEqual(await find('boiler -steam'), ['Paint it red'])
  assert.deepEqual(await find('boiler NOT steam'), ['Paint it red'])
  assert.deepEqual(await find('"looks dull"'), ['Paint it red'])
  assert.deepEqual(await find('"dull looks"'), [])
  assert.deepEqual((await find('valve OR steam')).sort(), ['Quiet valve', 'The boiler crashes'])
  assert.deepEqual(await find("'); drop table issues; -- & | ! :* \\"), [])
}))

test('qualifiers narrow a search', inject(async ({ ada, find }) => {
  const cases: Record<string, string[]> = {
    'is:open is:issue author:ben': ['Paint it red'],
    'author:@me': ['Quiet valve', 'The boiler crashes'],
    '-author:ada': ['Paint it red'],
    'state:closed': ['Quiet valve'],
    'reason:"not planned"': ['Quiet valve'],
    'is:pr': [],
    'type:issue label:bug': ['The boiler crashes'],
    'label:"hot water" label:bug': ['The boiler crashes'],
    'label:nothing,BUG': ['The boiler crashes'],
    'no:label no:milestone': ['Quiet valve'],
    'milestone:"version two"': ['Paint it red'],
    'assignee:ben': ['The boiler crashes'],
    'no:assignee state:open': ['Paint it red'],
    'mentions:cy': ['Paint it red'],
    'mentions:dan': ['Quiet valve'],
    'commenter:ben': ['Quiet valve'],
    'involves:ben sort:created-asc': ['The boiler crashes', 'Paint it red', 'Quiet valve'],
    'comments:>0': ['Quiet valve'],
    'comments:0..0 sort:created-asc': ['The boiler crashes', 'Paint it red'],
    'created:2026-02-04': ['Paint it red'],
    'created:>2026-02-04': ['Quiet valve'],
    'created:<2026-02-04T04:05:06Z': ['The boiler crashes'],
    'created:2026-02-04..* sort:created-asc': ['Paint it red', 'Quiet valve'],
    'closed:>=2026-02-05': ['Quiet valve'],
    'repo:ada/engine valve': ['Quiet valve'],
    'user:ada is:public valve': ['Quiet valve'],
    '-repo:ada/engine boiler': [],
  }
  for (const [q, titles] of Object.entries(cases)) {
    const who = q.includes('@me') ? ada : undefined
    const scoped = who ? `${q} repo:ada/engine` : q
    assert.deepEqual(await find(scoped, who), titles, q)
  }
  assert.deepEqual(linesOf(await ada.read(`${engine}/issues?mentioned=CY&state=all`), 'title'), ['Paint it red'])
  assert.deepEqual(await ada.read(`${engine}/issues?mentioned=nobody`), [])
}))

test('nobody finds what they may not see, and a token finds what it may', inject(async (forge) => {
  const { find, ada, dan, nobody } = forge
  const all = ['Secret boiler', 'The boiler crashes', 'Paint it red']
  assert.deepEqual((await find('boiler', ada)).sort(), [...all].sort())
  assert.deepEqual(await find('mentions:cy is:private', ada), ['Secret boiler'])
  const { total_count } = await nobody.read('/search/issues?q=boiler')
  assert.equal(total_count, 2)
  assert.equal((await find('boiler', await forge.tokenFor('ada', ['public_repo']))).length, 2)
  assert.equal(
    (await find('boiler', await fineGrained(forge, 'ada', { metadata: 'read', issues: 'read' }))).length,
    2,
    'pull requests are missing',
  )
  const able = await fineGrained(forge, 'ada', { metadata: 'read', issues: 'read', pull_requests: 'read' })
  await forge.belfry.db.query(sql`update tokens set all_repositories = true where kind = 'fine_grained'`)
  assert.equal((await find('boiler', able)).length, 3)
  for (const place of ['repo:ada/plans', 'repo:ada/nothing', 'user:no-such-user']) {
    const { errors } = await expect(422, await dan.get(`/search/issues?q=${encodeURIComponent(`boiler ${place}`)}`))
    assert.partialDeepStrictEqual(errors, [{ resource: 'Search', field: 'q', code: 'invalid' }])
  }
  await expect(200, await ada.patch(engine, { has_issues: false }))
  assert.deepEqual(await find('boiler'), [])
}))

test('what is edited or deleted is found as it is now', inject(async ({ ada, ben, find }) => {
  await expect(200, await ada.patch(`${engine}/issues/1`, { title: 'The chimney smokes', body: null }))
  assert.deepEqual(await find('crash'), [])
  assert.deepEqual(await find('chimney'), ['The chimney smokes'])
  const [{ id }] = await ben.read(`${engine}/issues/3/comments`)
  await expect(204, await ben.delete(`${engine}/issues/comments/${id}`))
  assert.deepEqual(await find('whistle'), [])
}))

test('a search that cannot be answered is refused', inject(async ({ forge, dan }) => {
  const refusals = ['', ' ', 'x'.repeat(1025), 'created:soon', 'comments:many', 'is:wet', 'no:money', 'in:space x', 'linked:pr']
  for (const q of refusals) {
    const { errors } = await expect(422, await dan.get(`/search/issues?q=${encodeURIComponent(q)}`))
    assert.partialDeepStrictEqual(errors, [{ resource: 'Search', field: 'q' }], q)
  }
  assert.equal((await dan.get('/search/issues')).status, 422)
  assert.equal((await dan.get('/search/issues?q=boiler&per_page=100&page=11')).status, 422)
  assert.deepEqual((await dan.read('/search/issues?q=boiler&per_page=100&page=10')).items, [])
  assert.deepEqual((await dan.read('/search/issues?q=the')).items, [], 'a word that is in every text')
  assert.deepEqual(errorsOf(forge), [])
}))

test('pages, orders and text matches are as documented', inject(async ({ ada, dan }) => {
  const answer = await dan.get('/search/issues?q=repo:ada/engine&sort=created&order=asc&per_page=2')
  assert.match(answer.headers.get('link') ?? '', /page=2>; rel="next", <[^>]+page=2>; rel="last"/)
  assert.deepEqual(linesOf((await expect(200, answer)).items, 'number'), ['1', '2'])
  const clients = dan.with({ accept: 'application/vnd.github.text-match+json' })
  const [first] = (await clients.read('/search/issues?q=boiler')).items
  assert.deepEqual(first.text_matches, [
    {
      object_url: first.url,
      object_type: 'Issue',
      property: 'title',
      fragment: 'The boiler crashes',
      matches: [{ text: 'boiler', indices: [4, 10] }],
    },
  ])
  for (const variant of ['self-hosted', 'versioned'] as const) {
    await assertDocumented(ada, variant, [['search/issues-and-pull-requests', 'get', '/search/issues?q=boiler']])
  }
}))

test('open issues are counted alike by counters and one by one', inject(async ({ forge, ada, dan }) => {
  const { db } = forge.belfry
  const make = async (path: string, title: string) => expect(201, await ada.post(`${path}/issues`, { title }))
  const becomePull = (issue: { id: number }) =>
    db.query(sql`insert into pulls (issue_id, repo_id, head_ref, head_sha, base_ref, base_sha)
      select id, repo_id, 'topic', '', 'main', '' from issues where id = ${issue.id}`)
  await ada.owns('drafts')
  for (const path of [engine, '/repos/ada/plans', '/repos/ada/drafts']) {
    for (const state of ['open', 'closed']) {
      const pull = await make(path, 'A change')
      await becomePull(pull)
      await expect(200, await ada.patch(`${path}/issues/${pull.number}`, { state }))
      await expect(200, await ada.patch(`${path}/issues/${(await make(path, 'A wish')).number}`, { state }))
    }
  }
  await expect(200, await ada.patch('/repos/ada/drafts', { has_issues: false }))
  const count = async (who: Person, q: string) =>
    (await who.read(`/search/issues?q=${encodeURIComponent(q)}&per_page=1&sort=created`)).total_count
  const counts: number[] = []
  for (const who of [ada, dan]) {
    for (const q of [
      'is:open',
      'state:open is:issue',
      'is:open type:pr',
      'is:issue is:open repo:ada/engine',
      'is:open is:pr is:issue',
    ]) {
      counts.push(await count(who, q))
      assert.equal(counts.at(-1), await count(who, `${q} created:>2000-01-01`), `${who.login}: ${q}`)
    }
  }
  assert.deepEqual(counts, [8, 5, 3, 3, 0, 5, 3, 2, 3, 0])
}))
