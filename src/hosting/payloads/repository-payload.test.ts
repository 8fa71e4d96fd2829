import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, type Forge, injecting, linesOf, openForge } from '#test/forge.ts'
import { checkPayload, unneeded } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openForge)

/** The deliveries of an act, a line each. Every payload matches the public schemas. */
async function told(forge: Forge, status: number, act: () => Promise<Response>) {
  const all = await heardOf(forge, async () => expect(status, await act()))
  for (const { event, payload } of all) checkPayload(event, payload)
  return {
    lines: all.map(({ event, payload }) => [event, payload.action].filter(Boolean).join(' ')),
    payloads: all.map(({ payload }) => payload),
  }
}

test('the first star and fork are delivered', inject(async (forge) => {
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { description: 'Of brass' })
  await forge.organization('acme', ben)
  await hookOn(ada, 'repos/ada/engine', '*')
  await hookOn(ben, 'orgs/acme', '*')

  const starred = await told(forge, 204, () => ben.put('/user/starred/ada/engine'))
  assert.deepEqual(starred.lines, ['star created', 'watch started'])
  assert.partialDeepStrictEqual(starred.payloads[0], {
    starred_at: '2026-02-03T04:05:06Z',
    sender: { login: 'ben' },
    repository: { full_name: 'ada/engine', stargazers_count: 1 },
  })
  assert.deepEqual((await told(forge, 204, () => ben.put('/user/starred/ada/engine'))).lines, [])
  const taken = await told(forge, 204, () => ben.delete('/user/starred/ada/engine'))
  assert.deepEqual(taken.lines, ['star deleted'])
  assert.partialDeepStrictEqual(taken.payloads[0], { starred_at: null, repository: { stargazers_count: 0 } })
  assert.deepEqual((await told(forge, 204, () => ben.delete('/user/starred/ada/engine'))).lines, [])

  const into = { organization: 'acme', name: 'motor' }
  const forked = await told(forge, 202, () => ben.post('/repos/ada/engine/forks', into))
  assert.deepEqual(forked.lines, ['fork', 'repository created'])
  assert.partialDeepStrictEqual(forked.payloads[0], {
    forkee: { full_name: 'acme/motor', fork: true, public: true, description: 'Of brass' },
    repository: { full_name: 'ada/engine', forks_count: 1 },
    sender: { login: 'ben' },
  })
  assert.equal('organization' in forked.payloads[0], false)
  assert.partialDeepStrictEqual(forked.payloads[1], {
    repository: { full_name: 'acme/motor', fork: true },
    organization: { login: 'acme' },
  })
  assert.deepEqual((await told(forge, 202, () => ben.post('/repos/ada/engine/forks', into))).lines, [])
}))

test('changes of a repository are delivered with the previous values', inject(async (forge) => {
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await hookOn(ada, 'orgs/acme', 'repository')
  const made = await told(forge, 201, () => ada.post('/orgs/acme/repos', { name: 'engine', private: true }))
  assert.deepEqual(made.lines, ['repository created'])
  assert.partialDeepStrictEqual(made.payloads[0], {
    repository: { full_name: 'acme/engine', private: true },
    sender: { login: 'ada' },
  })
  await hookOn(ada, 'repos/acme/engine', 'public')
  const change = (body: Record<string, unknown>) => told(forge, 200, () => ada.patch('/repos/acme/engine', body))

  assert.deepEqual((await change({ description: null, archived: false, name: 'engine' })).lines, [])
  const edited = await change({ description: 'Of brass', homepage: 'https://example.com' })
  assert.deepEqual(edited.lines, ['repository edited'])
  assert.deepEqual(edited.payloads[0].changes, { description: { from: null }, homepage: { from: null } })
  assert.equal(edited.payloads[0].repository.description, 'Of brass')
  // One request may change several things, and each is delivered.
  const shown = await change({ visibility: 'public', description: 'Of steel', archived: true })
  assert.deepEqual(shown.lines, ['repository edited', 'repository archived', 'repository publicized', 'public'])
  assert.deepEqual(shown.payloads[0].changes, { description: { from: 'Of brass' } })
  const hidden = await change({ private: true, archived: false })
  assert.deepEqual(hidden.lines, ['repository unarchived', 'repository privatized'])
  // A refused request delivers nothing.
  assert.deepEqual((await told(forge, 422, () => ada.patch('/repos/acme/engine', { default_branch: 'nowhere' }))).lines, [])
  assert.deepEqual((await told(forge, 404, () => ben.patch('/repos/acme/engine', { description: 'x' }))).lines, [])

  await expect(201, await ada.put('/repos/acme/engine/contents/a', { message: 'a', content: '' }))
  const { object } = await ada.read('/repos/acme/engine/git/ref/heads/main')
  await expect(201, await ada.post('/repos/acme/engine/git/refs', { ref: 'refs/heads/next', sha: object.sha }))
  const turned = await change({ default_branch: 'next' })
  assert.deepEqual(turned.payloads[0].changes, { default_branch: { from: 'main' } })
  const renamed = await change({ name: 'motor' })
  assert.deepEqual(renamed.lines, ['repository renamed'])
  assert.deepEqual(renamed.payloads[0].changes, { repository: { name: { from: 'engine' } } })
  assert.equal(renamed.payloads[0].repository.full_name, 'acme/motor')
}))

test('a transfer is delivered to hooks of the repository and of the new owner, and a deletion before the repository is gone', inject(async (forge) => {
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  for (const name of ['acme', 'bolts']) {
    await forge.organization(name, ada)
    await hookOn(ada, `orgs/${name}`, 'repository')
  }
  const statement = sql`
    select coalesce(a.login, 'engine') as org from pending_deliveries u join hooks h on h.id = u.hook_id left join accounts a on a.id = h.org_id
    where u.event = 'repository' order by u.id`
  const hooks = async () => linesOf(await forge.belfry.db.rows(statement), 'org')
  const given = await told(forge, 202, () => ada.post('/repos/ada/engine/transfer', { new_owner: 'acme' }))
  assert.deepEqual(given.lines, ['repository transferred'])
  assert.partialDeepStrictEqual(given.payloads[0], {
    changes: { owner: { from: { user: { login: 'ada', url: `${forge.web}/api/v3/users/ada` } } } },
    repository: { full_name: 'acme/engine' },
    organization: { login: 'acme' },
  })
  assert.deepEqual(await hooks(), ['acme'])
  const passed = await told(forge, 202, () => ada.post('/repos/acme/engine/transfer', { new_owner: 'bolts', new_name: 'motor' }))
  assert.partialDeepStrictEqual(passed.payloads[0].changes.owner.from, {
    organization: { login: 'acme', url: `${forge.web}/api/v3/orgs/acme` },
  })
  assert.deepEqual(await hooks(), ['acme', 'bolts'])

  await hookOn(ada, 'repos/bolts/motor', 'repository')
  assert.deepEqual((await told(forge, 403, () => ben.delete('/repos/bolts/motor'))).lines, [])
  const ended = await told(forge, 204, () => ada.delete('/repos/bolts/motor'))
  assert.deepEqual(ended.lines, ['repository deleted'])
  assert.partialDeepStrictEqual(ended.payloads[0], { repository: { full_name: 'bolts/motor' }, sender: { login: 'ada' } })
  assert.deepEqual((await hooks()).slice(2).sort(), ['bolts', 'engine'])
}))

test('added, changed and removed collaborators are delivered', inject(async (forge) => {
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { private: true })
  await hookOn(ada, 'repos/ada/engine', 'member')
  const put = (permission: string, status: number) =>
    told(forge, status, () => ada.put('/repos/ada/engine/collaborators/ben', { permission }))
  assert.deepEqual((await put('push', 201)).lines, [])
  const [invitation] = await ben.read('/user/repository_invitations')
  const added = await told(forge, 204, () => ben.patch(`/user/repository_invitations/${invitation.id}`))
  assert.deepEqual(added.lines, ['member added'])
  assert.partialDeepStrictEqual(added.payloads[0], {
    changes: { permission: { to: 'write' } },
    member: { login: 'ben' },
    sender: { login: 'ada' },
    repository: { private: true },
  })
  assert.deepEqual((await put('write', 204)).lines, [])
  const edited = await put('admin', 204)
  assert.deepEqual(edited.lines, ['member edited'])
  assert.deepEqual(edited.payloads[0].changes, { old_permission: { from: 'write' }, permission: { from: 'write', to: 'admin' } })
  const removed = await told(forge, 204, () => ben.delete('/repos/ada/engine/collaborators/ben'))
  assert.deepEqual(removed.lines, ['member removed'])
  assert.partialDeepStrictEqual(removed.payloads[0], { member: { login: 'ben' }, sender: { login: 'ben' } })
  assert.deepEqual((await told(forge, 204, () => ada.delete('/repos/ada/engine/collaborators/ben'))).lines, [])

  await put('pull', 201)
  const [again] = await ben.read('/user/repository_invitations')
  const reading = await told(forge, 204, () => ben.patch(`/user/repository_invitations/${again.id}`))
  assert.deepEqual(reading.payloads[0].changes, { permission: { to: 'read' } })
  assert.deepEqual(unneeded('member added'), [])
}))

test('acts on releases and comments on commits are delivered', inject(async (forge) => {
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  await hookOn(ada, 'repos/ada/engine', 'release', 'commit_comment')
  const releases = '/repos/ada/engine/releases'
  const make = (body: Record<string, unknown>) => told(forge, 201, () => ada.post(releases, body))
  const change = async (id: number, body: Record<string, unknown>) => told(forge, 200, () => ada.patch(`${releases}/${id}`, body))

  const first = await make({ tag_name: 'v1', name: 'One' })
  assert.deepEqual(first.lines, ['release created', 'release published', 'release released'])
  assert.partialDeepStrictEqual(first.payloads[1], {
    release: { tag_name: 'v1', name: 'One', draft: false, author: { login: 'ada' } },
    sender: { login: 'ada' },
  })
  assert.deepEqual((await make({ tag_name: 'v2', prerelease: true })).lines, [
    'release created',
    'release published',
    'release prereleased',
  ])
  const draft = await make({ tag_name: 'v3', draft: true })
  assert.deepEqual(draft.lines, ['release created'])
  const { id } = draft.payloads[0].release
  assert.deepEqual((await change(id, { draft: true })).lines, [])
  const edited = await change(id, { body: 'New' })
  assert.deepEqual(edited.lines, ['release edited'])
  assert.deepEqual(edited.payloads[0].changes, { body: { from: '' } })
  const published = await change(id, { draft: false, prerelease: true, tag_name: 'v4' })
  assert.deepEqual(published.lines, ['release edited', 'release published', 'release prereleased'])
  assert.deepEqual(published.payloads[0].changes, { tag_name: { from: 'v3' } })
  assert.deepEqual((await change(id, { prerelease: false })).lines, ['release edited', 'release released'])
  assert.deepEqual((await change(id, { draft: true })).lines, ['release unpublished'])
  const gone = await told(forge, 204, () => ada.delete(`${releases}/${id}`))
  assert.deepEqual(gone.lines, ['release deleted'])
  assert.partialDeepStrictEqual(gone.payloads[0], { release: { id, tag_name: 'v4' } })
  assert.deepEqual((await told(forge, 422, () => ada.post(releases, { tag_name: 'v1' }))).lines, [])

  const { sha } = await ada.read('/repos/ada/engine/commits/main')
  const said = await told(forge, 201, () =>
    ada.post(`/repos/ada/engine/commits/${sha}/comments`, { body: 'Fine', path: 'README.md', line: 1 }),
  )
  assert.deepEqual(said.lines, ['commit_comment created'])
  assert.partialDeepStrictEqual(said.payloads[0], {
    comment: { body: 'Fine', commit_id: sha, path: 'README.md', line: 1, user: { login: 'ada' } },
  })
}))
