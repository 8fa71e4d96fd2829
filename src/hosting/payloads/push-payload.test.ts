import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { expect, injecting, linesOf } from '#test/forge.ts'
import { installHook, openEngine, zeros } from '#test/git.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { type Heard, heard, heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openHeard)

/** A repository with a hook for pushes. Its payloads match the public schemas. */
async function openHeard() {
  const engine = await openEngine()
  await hookOn(engine.ada, 'repos/ada/engine', 'push', 'create', 'delete')
  const told = async (act: () => Promise<unknown>) => {
    const all = await heardOf(engine.forge, act)
    for (const { event, payload } of all) checkPayload(event, payload)
    return all
  }
  return { ...engine, told, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() }
}

const lines = (all: Heard[]) =>
  all.map(({ event, payload }) => `${event} ${payload.ref}${payload.commits ? ` ${payload.commits.length}` : ''}`)

test('a push payload lists the files that each commit changed', inject(async (engine) => {
  const { work, told, forge, ada } = engine
  const first = await work.commit('One', { 'a.txt': 'a\n', 'b.bin': Buffer.from([0, 1, 2, 255]) })
  const [made, pushed] = await told(() => work.push())
  assert.deepEqual(lines([made, pushed] as Heard[]), ['create main', 'push refs/heads/main 1'])
  assert.partialDeepStrictEqual(made?.payload, {
    ref_type: 'branch',
    master_branch: 'main',
    description: null,
    pusher_type: 'user',
  })
  const web = `${forge.web}/ada/engine`
  assert.partialDeepStrictEqual(pushed?.payload, {
    ...{ ref: 'refs/heads/main', before: zeros, after: first, created: true, deleted: false, forced: false, base_ref: null },
    compare: `${web}/commit/${first.slice(0, 12)}`,
    sender: { login: 'ada' },
    repository: {
      url: web,
      pushed_at: Math.floor(forge.clock.now().getTime() / 1000),
      owner: { name: 'ada', email: null, login: 'ada' },
      master_branch: 'main',
    },
  })
  assert.deepEqual(pushed?.payload.pusher, { name: 'ada', email: null })
  const someone = { name: 'ada', email: 'ada@example.com', username: 'ada' }
  const [commit] = pushed?.payload.commits ?? []
  assert.match(commit.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/)
  assert.deepEqual(commit, {
    ...{ id: first, tree_id: await work.git('rev-parse', 'HEAD^{tree}'), distinct: true, message: 'One' },
    ...{ timestamp: commit.timestamp, author: someone, committer: someone },
    ...{ added: ['a.txt', 'b.bin'], removed: [], modified: [], url: `${web}/commit/${first}` },
  })
  assert.deepEqual(pushed?.payload.head_commit, commit)

  // Renamed, changed, turned into a link, and with names that need care.
  await work.git('mv', 'a.txt', 'c.txt')
  const odd = 'Ü "quoted"\t\\ new\nline'
  await work.commit('Two\n\nWith a body.\n\n', { 'b.bin': Buffer.from([255, 0]), [odd]: 'x' })
  await work.git('commit', '--quiet', '--allow-empty', '-m', 'Three', '--author=Nobody <>', '--date=2001-02-03T04:05:06+0530')
  const last = await work.head()
  const [next] = await told(() => work.push())
  assert.partialDeepStrictEqual(next?.payload, { before: first, after: last, created: false, forced: false })
  assert.equal(next?.payload.compare, `${web}/compare/${first.slice(0, 12)}...${last.slice(0, 12)}`)
  assert.deepEqual(
    next?.payload.commits.map(({ message, added, removed, modified }: Record<string, unknown>) => ({
      message,
      added,
      removed,
      modified,
    })),
    [
      { message: 'Two\n\nWith a body.', added: ['c.txt', odd].sort(), removed: ['a.txt'], modified: ['b.bin'] },
      { message: 'Three', added: [], removed: [], modified: [] },
    ],
  )
  assert.deepEqual(next?.payload.head_commit.author, { name: 'Nobody', email: '' })

  // A commit made by the API is delivered in the same way.
  const file = { message: 'Four', content: Buffer.from('4').toString('base64') }
  const [written] = await told(async () => expect(201, await ada.put('/repos/ada/engine/contents/four.txt', file)))
  assert.partialDeepStrictEqual(written?.payload, {
    before: last,
    commits: [{ message: 'Four', added: ['four.txt'], author: { username: 'ada' } }],
  })
}))

test('created, deleted and reset branches and tags are delivered in order', inject(async ({ work, told, ada }) => {
  const first = await work.commit('One')
  await work.push()
  const second = await work.commit('Two')
  const before = await told(() => work.push('main', 'main:copy', 'main~1:refs/heads/old'))
  assert.deepEqual(lines(before), [
    'push refs/heads/main 1',
    'create copy',
    'push refs/heads/copy 0',
    'create old',
    'push refs/heads/old 0',
  ])
  assert.partialDeepStrictEqual(before[2]?.payload, {
    created: true,
    base_ref: 'refs/heads/main',
    head_commit: { id: second, distinct: false },
  })
  assert.partialDeepStrictEqual(before[4]?.payload, { created: true, base_ref: null, after: first, head_commit: { id: first } })

  await work.git('reset', '--quiet', '--hard', first)
  const other = await work.commit('Two again')
  const [forced] = await told(() => work.push('--force', 'main'))
  assert.partialDeepStrictEqual(forced?.payload, {
    forced: true,
    before: second,
    after: other,
    commits: [{ id: other, distinct: true }],
  })
  const [back] = await told(() => work.push('--force', `${first}:main`))
  assert.partialDeepStrictEqual(back?.payload, { forced: true, after: first, commits: [], head_commit: { id: first } })
  // Commits that another branch brought before are not distinct.
  const [again] = await told(() => work.push(`${second}:main`))
  assert.partialDeepStrictEqual(again?.payload, { forced: false, commits: [{ id: second, distinct: false }] })

  await work.git('tag', 'light', second)
  await work.git('tag', '-a', '-m', 'Of note', 'noted', second)
  await work.git('tag', 'tree', `${second}^{tree}`)
  const tagged = await told(() => work.push('light', 'noted', 'tree'))
  assert.deepEqual(
    lines(tagged),
    ['light', 'noted', 'tree'].flatMap((name) => [`create ${name}`, `push refs/tags/${name} 0`]),
  )
  assert.partialDeepStrictEqual(tagged[1]?.payload, { created: true, base_ref: 'refs/heads/copy', head_commit: { id: second } })
  const object = await work.git('rev-parse', 'noted')
  assert.partialDeepStrictEqual(tagged[3]?.payload, { after: object, head_commit: { id: second } })
  assert.equal(tagged[0]?.payload.ref_type, 'tag')
  assert.equal(tagged[5]?.payload.head_commit, null)
  const [moved] = await told(() => work.push('--force', `${other}:refs/tags/light`))
  assert.partialDeepStrictEqual(moved?.payload, { ref: 'refs/tags/light', forced: true, before: second, after: other })

  const gone = await told(() => work.push('--delete', 'copy', 'light'))
  assert.deepEqual(lines(gone), ['delete copy', 'push refs/heads/copy 0', 'delete light', 'push refs/tags/light 0'])
  assert.partialDeepStrictEqual(gone[0]?.payload, { ref_type: 'branch', pusher_type: 'user' })
  assert.partialDeepStrictEqual(gone[1]?.payload, {
    deleted: true,
    forced: false,
    before: second,
    after: zeros,
    head_commit: null,
    base_ref: null,
  })

  const ref = { ref: 'refs/heads/made', sha: second }
  assert.deepEqual(lines(await told(async () => expect(201, await ada.post('/repos/ada/engine/git/refs', ref)))), [
    'create made',
    'push refs/heads/made 0',
  ])
  assert.deepEqual(lines(await told(() => ada.delete('/repos/ada/engine/git/refs/heads/made'))), [
    'delete made',
    'push refs/heads/made 0',
  ])
  const release = { tag_name: 'v1', target_commitish: 'main' }
  assert.deepEqual(lines(await told(() => ada.post('/repos/ada/engine/releases', release))), ['create v1', 'push refs/tags/v1 0'])
}))

test('a merge lists the commits it brought, with the logins of their authors', inject(async (engine) => {
  const { work, told, forge, ada } = engine
  await forge.person('ben')
  await work.commit('One', { 'one.txt': '1' })
  await work.push()
  await work.git('checkout', '--quiet', '-b', 'side')
  await work.commit('Side', { 'side.txt': 's' })
  await work.git('commit', '--quiet', '--amend', '--no-edit', '--author=Benjamin <BEN@example.com>')
  await work.git('checkout', '--quiet', 'main')
  await work.commit('Main', { 'one.txt': '2' })
  await work.git('merge', '--quiet', '--no-edit', 'side')
  const [pushed] = await told(() => work.push('main'))
  const { commits, head_commit } = pushed?.payload ?? {}
  const of = (message: string) => commits.find((commit: { message: string }) => commit.message === message)
  assert.equal(commits.length, 3)
  assert.partialDeepStrictEqual(of('Side'), {
    author: { name: 'Benjamin', email: 'BEN@example.com', username: 'ben' },
    committer: { username: 'ada' },
  })
  assert.partialDeepStrictEqual(of('Main'), { added: [], modified: ['one.txt'] })
  assert.deepEqual(commits.at(-1), head_commit)
  assert.partialDeepStrictEqual(head_commit, { added: ['side.txt'], modified: [], removed: [] })

  // A merge by the API is a push too.
  await work.git('checkout', '--quiet', '-b', 'more')
  await work.commit('More', { 'more.txt': 'm' })
  await work.push('more')
  const { number } = await expect(201, await ada.post('/repos/ada/engine/pulls', { title: 'More', head: 'more', base: 'main' }))
  const [merged] = await told(async () => expect(200, await ada.put(`/repos/ada/engine/pulls/${number}/merge`)))
  assert.partialDeepStrictEqual(merged?.payload, {
    ...{ ref: 'refs/heads/main', before: head_commit.id, forced: false },
    ...{
      commits: [
        { message: 'More', distinct: false },
        { distinct: true, added: ['more.txt'] },
      ],
      head_commit: { added: ['more.txt'] },
    },
  })
}))

test('refused pushes, more than three tags and refs of other kinds deliver nothing', inject(async ({ work, told, forge, id }) => {
  await work.commit('One')
  await work.push()
  await work.commit('Two')
  await installHook(forge.belfry.storage.pathOf(id), 'pre-receive', 'exit 1')
  assert.deepEqual(await told(() => work.attempt('push', 'origin', 'main')), [])
  await installHook(forge.belfry.storage.pathOf(id), 'pre-receive', 'exit 0')
  assert.deepEqual(await told(() => work.push('main:refs/notes/x')), [])
  for (const name of ['a', 'b', 'c', 'd']) await work.git('tag', name)
  assert.deepEqual(lines(await told(() => work.push('main', '--tags'))), ['push refs/heads/main 1'])
  assert.deepEqual(lines(await told(() => work.push('--delete', 'a', 'b', 'c', 'd'))), [])
  assert.equal((await told(() => work.push('a', 'b', 'c'))).length, 6)
}))

test('commits with impossible dates, many files and invalid text are delivered as far as possible', inject(async (engine) => {
  const { work, told } = engine
  const many = Object.fromEntries(Array.from({ length: 3010 }, (_, index) => [`many/${index}`, '']))
  const first = await work.commit('Many', many)
  const tree = await work.git('rev-parse', 'HEAD^{tree}')
  const head = `tree ${tree}\nparent ${first}\nauthor Who <ADA@Example.com> 99999999999 +9999\ncommitter  <> 99999999999999999 -0000\n\n`
  await writeFile(join(work.folder, 'commit'), Buffer.concat([Buffer.from(head), Buffer.from([0xff, 0xfe, 10])]))
  const odd = await work.git('hash-object', '-t', 'commit', '-w', '--literally', 'commit')
  const [, pushed] = await told(() => work.push(`${odd}:refs/heads/main`))
  const [files, strange] = pushed?.payload.commits ?? []
  assert.equal(files.added.length, 3000)
  assert.partialDeepStrictEqual(strange, {
    id: odd,
    message: '\ufffd\ufffd',
    timestamp: '1970-01-01T00:00:00Z',
    author: { username: 'ada' },
    added: [],
  })
}))

test('hooks of an organization get pushes of all its repositories, also of one created with a commit', async () => {
  await using engine = await openEngine()
  const { forge, ada, work } = engine
  await forge.organization('acme', ada)
  await hookOn(ada, 'orgs/acme', 'push', 'create', 'repository')
  await work.commit('One')
  await work.push()
  assert.deepEqual(await heard(forge), [])
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'works', private: true, auto_init: true }))
  const all = await heard(forge)
  for (const { event, payload } of all) checkPayload(event, payload)
  assert.deepEqual(linesOf(all, 'event'), ['repository', 'create', 'push'])
  assert.partialDeepStrictEqual(all[2]?.payload, {
    ...{ created: true, commits: [{ message: 'Initial commit', added: ['README.md'], author: { username: 'ada' } }] },
    ...{ repository: { private: true, owner: { name: 'acme' } }, organization: { login: 'acme' }, sender: { login: 'ada' } },
  })
})
