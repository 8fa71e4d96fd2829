import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { join } from '#test/conversations.ts'
import { assertDocumented } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf, type Person, withPeople } from '#test/forge.ts'
import { runJobs } from '#test/jobs.ts'
import { repositoryTasks } from '../jobs.ts'

const template = '/repos/ada/kit'
const generate = `${template}/generate`

/** Ada's template with two commits on `main` and a branch `extra`. */
const open = async () => {
  const forge = await withPeople('ada', 'ben', 'cy')()
  const { ada } = forge
  await ada.owns('kit', { is_template: true, auto_init: true, license_template: 'mit', description: 'A kit' })
  const { content } = await expect(201, await ada.put(`${template}/contents/src/run`, { message: 'Add', content: 'MQ==' }))
  const { object } = await ada.read(`${template}/git/ref/heads/main`)
  await expect(201, await ada.post(`${template}/git/refs`, { ref: 'refs/heads/extra', sha: object.sha }))
  await expect(201, await ada.put(`${template}/contents/more`, { message: 'More', content: 'MQ==', branch: 'extra' }))
  const inside = (id: number, ...args: string[]) => git(['-C', forge.belfry.storage.pathOf(id), ...args])
  const finish = () => runJobs(forge, repositoryTasks(forge.belfry.db, forge.belfry.storage))
  return Object.assign(forge, { head: object.sha as string, blob: content.sha as string, inside, finish })
}
const inject = injecting(open)

test('a generated repository has the files of the template in one commit, and no history', inject(async (forge) => {
  const { ben, nobody, head, blob, inside, finish } = forge
  const made = await expect(201, await ben.post(generate, { name: 'own', description: 'Mine' }))
  assert.partialDeepStrictEqual(made, {
    full_name: 'ben/own',
    ...{ description: 'Mine', private: false, fork: false, is_template: false, default_branch: 'main' },
    template_repository: { full_name: 'ada/kit', is_template: true },
    license: { key: 'mit' },
  })
  await finish()
  const own = '/repos/ben/own'
  const [only, ...others] = await nobody.read(`${own}/commits`)
  assert.deepEqual([only.author.login, only.commit.message, only.parents, others], ['ben', 'Initial commit', [], []])
  const pathsOf = async (repo: string) => linesOf((await nobody.read(`${repo}/git/trees/main?recursive=1`)).tree, 'path', 'sha')
  assert.deepEqual(await pathsOf(own), await pathsOf(template))
  assert.deepEqual(linesOf(await nobody.read(`${own}/branches`), 'name'), ['main'])
  assert.equal((await nobody.get(`${own}/git/blobs/${blob}`)).status, 200)
  assert.notEqual((await nobody.get(`${own}/git/commits/${head}`)).status, 200)
  assert.equal(await inside(made.id, 'fsck', '--strict'), '')
  assert.deepEqual(linesOf(await nobody.read(`${own}/events`), 'type', 'payload.ref_type'), [
    'CreateEvent branch',
    'CreateEvent repository',
  ])
  await expect(201, await ben.put(`${own}/contents/a`, { message: 'Go on', content: '' }))
  await finish()
  assert.deepEqual(errorsOf(forge), [])
}))

test('all branches are included on request', inject(async ({ forge, ada, finish }) => {
  await forge.organization('acme', ada)
  await expect(201, await ada.post(generate, { name: 'own', owner: 'acme', include_all_branches: true }))
  await finish()
  assert.deepEqual(linesOf(await ada.read('/repos/acme/own/branches'), 'name'), ['extra', 'main'])
  assert.equal((await ada.read('/repos/acme/own/commits?sha=extra')).length, 1)
  assert.equal((await ada.get('/repos/acme/own/contents/more?ref=extra')).status, 200)
  assert.equal((await ada.get('/repos/acme/own/contents/more')).status, 404)
}))

test('a private template is only for those who see it, and only for private repositories', inject(async (forge) => {
  const { ada, ben, cy, nobody, finish, inside } = forge
  await expect(200, await ada.patch(template, { private: true }))
  await join(ada, ben, 'pull', template)
  await join(ada, cy, 'pull', template)
  assert.equal((await ben.post(generate, { name: 'open' })).status, 422)
  const kept = await expect(201, await ben.post(generate, { name: 'own', private: true }))
  const lost = await expect(201, await cy.post(generate, { name: 'own', private: true }))
  assert.equal((await ada.delete(`${template}/collaborators/cy`)).status, 204)
  await finish()
  assert.match(await inside(kept.id, 'for-each-ref'), /refs\/heads\/main/)
  assert.equal(await inside(lost.id, 'for-each-ref'), '', 'without access when it is copied, nothing is')
  assert.equal((await cy.read('/repos/cy/own')).template_repository, null, 'a hidden template is not shown')
  assert.equal((await nobody.get('/repos/ben/own')).status, 404)
  assert.equal((await cy.post(generate, { name: 'other', private: true })).status, 404)
}))

test('what is no template, or not for this owner, is refused', inject(async ({ forge, ada, ben, finish }) => {
  const status = async (who: Person, body: object, path = generate) =>
    (await who.post(path, body as Record<string, unknown>)).status
  await ada.owns('plain', { auto_init: true })
  await forge.organization('acme', ada)
  assert.equal(await status(ben, { name: 'own' }, '/repos/ada/plain/generate'), 422)
  for (const owner of ['acme', 'ada', 'nobody']) assert.equal(await status(ben, { name: 'own', owner }), 422, owner)
  assert.equal(await status(ben, {}), 422)
  assert.equal(await status(await forge.tokenFor('ben', ['public_repo']), { name: 'own', private: true }), 403)
  await expect(201, await ben.post(generate, { name: 'own' }))
  assert.equal(await status(ben, { name: 'own' }), 422, 'the name is taken')
  await expect(204, await ada.delete(template))
  await finish()
  assert.deepEqual(await ben.read('/repos/ben/own/branches'), [], 'a template that is gone by then leaves it empty')
}))

test('generating matches the public documentation', inject(async ({ ada }) => {
  await assertDocumented(ada, 'self-hosted', [['repos/create-using-template', 'post', generate, { name: 'one' }]])
  await assertDocumented(ada, 'versioned', [
    ['repos/create-using-template', 'post', generate, { name: 'two', private: true }],
    ['repos/get', 'get', '/repos/ada/two'],
  ])
}))
