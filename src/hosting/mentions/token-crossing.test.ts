import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { fineGrained } from '#test/conversations.ts'
import { expect, type Forge, injecting, openForge, type Person } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openForge)

/** A fine-grained token of Ada for one of her repositories. */
async function tokenFor(forge: Forge, name: string, permissions: object) {
  const token = await fineGrained(forge, 'ada', { metadata: 'read', ...permissions })
  await forge.belfry.db.query(sql`
    with limited as (update tokens set all_repositories = false where kind = 'fine_grained' returning id)
    insert into token_repositories (token_id, repo_id)
    select limited.id, r.id from limited, repositories r join accounts o on o.id = r.owner_id where r.name = ${name} and o.login = 'ada'`)
  return token
}

test('a token refers only to issues that it may see, in new texts and in edits', inject(async (forge) => {
  const ada = await forge.person('ada')
  await ada.owns('engine')
  await ada.owns('secret', { private: true })
  await expect(201, await ada.post('/repos/ada/secret/issues', { title: 'Hidden' }))
  const guest = await signedIn(forge, 'ada')
  const referred = async (title: string) => (await guest.get('/ada/secret/issues/1')).text.includes(title)
  const limited = [await tokenFor(forge, 'engine', { issues: 'write' }), await forge.tokenFor('ada', ['public_repo'])]
  const raise = async (by: Person, title: string, body: string) =>
    expect(201, await by.post('/repos/ada/engine/issues', { title, body }))
  for (const [index, token] of limited.entries()) {
    const { number } = await raise(token, `Leak ${index}`, 'See ada/secret#1')
    await expect(200, await token.patch(`/repos/ada/engine/issues/${number}`, { body: 'Look at ada/secret#1' }))
    const path = '/repos/ada/engine/issues'
    const comment = await expect(201, await token.post(`${path}/${number}/comments`, { body: 'ada/secret#1' }))
    await expect(200, await token.patch(`${path}/comments/${comment.id}`, { body: 'or ada/secret#1' }))
    assert.equal(await referred(`Leak ${index}`), false)
  }
  await raise(ada, 'Known', 'See ada/secret#1')
  assert.equal(await referred('Known'), true)
}))

test('a token renders links only to what it may see', inject(async (forge) => {
  const ada = await forge.person('ada')
  await ada.owns('engine')
  await ada.owns('secret', { private: true })
  await expect(201, await ada.post('/repos/ada/secret/issues', { title: 'Hidden' }))
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Open', body: 'See ada/secret#1' }))
  const linked = async (by: Person) => {
    const rendered = await by.post('/markdown', { text: 'See ada/secret#1', mode: 'gfm', context: 'ada/engine' })
    const html = by.with({ accept: 'application/vnd.github.html+json' })
    const { body_html } = await html.read('/repos/ada/engine/issues/1')
    const found = [await rendered.text(), body_html].map((text) => text.includes('/ada/secret/issues/1'))
    assert.equal(new Set(found).size, 1)
    return found[0]
  }
  assert.equal(await linked(ada), true)
  assert.equal(await linked(await forge.tokenFor('ada', ['public_repo'])), false)
  assert.equal(await linked(await tokenFor(forge, 'engine', { issues: 'read' })), false)
}))

test(
  'a token for the base does not bring commits of a private head when it reopens',
  injecting(openWithTopic)(async (forge) => {
    const { ada, ben, follow } = forge
    await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
    await expect(202, await ben.post('/repos/ada/engine/forks'))
    await follow()
    await expect(204, await ben.put('/repos/ben/engine/collaborators/ada', { permission: 'push' }).then(accept(forge)))
    const work = await forge.desk.clone(ben, 'ben/engine')
    await work.git('checkout', '--quiet', '-b', 'idea')
    const idea = await work.commit('Idea', { 'idea.txt': 'An idea.\n' })
    await work.push('idea')
    const pull = await forge.propose({ title: 'Idea', head: 'ben:idea' }, ben)
    const path = `/repos/ada/engine/pulls/${pull.number}`
    await expect(200, await ada.patch(path, { state: 'closed' }))
    const later = await work.commit('Later', { 'later.txt': 'Later.\n' })
    await work.push('idea')
    const token = await tokenFor(forge, 'engine', { pull_requests: 'write', contents: 'read' })
    await expect(200, await token.patch(path, { state: 'open' }))
    await follow()
    assert.equal((await ada.read(path)).head.sha, idea)
    await expect(200, await ada.patch(path, { state: 'closed' }))
    await expect(200, await ada.patch(path, { state: 'open' }))
    await follow()
    assert.equal((await ada.read(path)).head.sha, later)
  }),
)

/** Accepts the invitation that the answer shows, as Ada. */
const accept =
  ({ ada }: { ada: Person }) =>
  async (answer: Response) => {
    const { id } = await expect(201, answer)
    return ada.patch(`/user/repository_invitations/${id}`)
  }

test('a token for some repositories cannot give a new team access to others', inject(async (forge) => {
  const ada = await forge.person('ada')
  await forge.organization('acme', ada)
  for (const name of ['plans', 'secret']) await expect(201, await ada.post('/orgs/acme/repos', { name, private: true }))
  const token = await fineGrained(forge, 'ada', { members: 'write', metadata: 'read' }, 'acme')
  await forge.belfry.db.query(sql`
    with limited as (update tokens set all_repositories = false where kind = 'fine_grained' returning id)
    insert into token_repositories (token_id, repo_id) select limited.id, r.id from limited, repositories r where r.name = 'plans'`)
  await expect(422, await token.post('/orgs/acme/teams', { name: 'Spies', repo_names: ['acme/secret'] }))
}))
