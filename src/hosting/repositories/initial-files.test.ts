import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertDocumented } from '#test/documented.ts'
import { expect, injecting, linesOf, type Person, withPeople } from '#test/forge.ts'

const inject = injecting(withPeople('ada'))

const filesOf = async (who: Person, repo: string) => linesOf(await who.read(`/repos/${repo}/contents`), 'path')
const textOf = async (who: Person, repo: string, path: string) => {
  const { content } = await who.read(`/repos/${repo}/contents/${path}`)
  return Buffer.from(content, 'base64').toString()
}

test('the first commit contains the wanted license and .gitignore', inject(async ({ forge, ada }) => {
  await expect(200, await ada.patch('/user', { name: 'Ada King' }))
  const engine = await ada.owns('engine', { license_template: 'MIT', gitignore_template: 'C++', auto_init: true })
  assert.deepEqual([engine.license.spdx_id, engine.language], ['MIT', null])
  assert.deepEqual(await filesOf(ada, 'ada/engine'), ['.gitignore', 'LICENSE', 'README.md'])
  const year = forge.clock.now().getUTCFullYear()
  assert.match(await textOf(ada, 'ada/engine', 'LICENSE'), new RegExp(`^Copyright \\(c\\) ${year} Ada King$`, 'm'))
  assert.equal(await textOf(ada, 'ada/engine', '.gitignore'), (await ada.read('/gitignore/templates/C++')).source)
  assert.deepEqual((await ada.read('/repos/ada/engine/license')).license, engine.license)
  assert.equal((await ada.read('/repos/ada/engine/commits')).length, 1)

  await forge.organization('acme', ada)
  await expect(
    201,
    await ada.post('/orgs/acme/repos', { name: 'plans', license_template: 'bsd-2-clause', gitignore_template: '' }),
  )
  assert.deepEqual(await filesOf(ada, 'acme/plans'), ['LICENSE'], 'a template alone makes a commit too')
  assert.match(await textOf(ada, 'acme/plans', 'LICENSE'), /, acme$/m)
}))

test('an unknown template is refused, and nothing is created', inject(async ({ ada }) => {
  for (const options of [{ license_template: 'no' }, { license_template: '../mit' }, { gitignore_template: 'Nothing' }]) {
    const { errors } = await expect(422, await ada.post('/user/repos', { name: 'engine', ...options }))
    assert.deepEqual(linesOf(errors, 'resource', 'code', 'field'), [`Repository invalid ${Object.keys(options)}`])
  }
  assert.equal((await ada.get('/repos/ada/engine')).status, 404)
}))

test('a new repository with a license matches the public documentation', inject(async ({ ada }) => {
  const visit = (name: string) =>
    ['repos/create-for-authenticated-user', 'post', '/user/repos', { name, license_template: 'gpl-3.0' }] as const
  await assertDocumented(ada, 'self-hosted', [[...visit('one')]])
  await assertDocumented(ada, 'versioned', [[...visit('two')]])
}))
