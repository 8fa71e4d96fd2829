import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'

const paths = [
  ...['actions/workflows', 'rulesets', 'rules/branches/main', 'dispatches', 'discussions', 'projects', 'codespaces', 'pages'].map(
    (area) => `/repos/ada/engine/${area}`,
  ),
  ...['/gists', '/gists/public', '/gists/1', '/users/ada/gists', '/users/ada/packages?package_type=npm', '/user/codespaces'],
  ...['/orgs/acme/actions/runners', '/orgs/acme/rulesets', '/projects/1', '/user/gpg_keys'],
]

test('an address of the public API that is not served says so, on both variants and with every method', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  for (const client of [ada, ada.versioned, forge.nobody]) {
    for (const path of paths) {
      for (const answer of [await client.get(path), await client.post(path, {})]) {
        assert.match((await expect(404, answer)).message, /^Not Found: Belfry does not serve /, path)
        assert.ok(answer.headers.get('x-belfry-unserved'), path)
      }
    }
  }
})

test('the answer is the same for repositories that are hidden, missing or by id, and other addresses are plain 404', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const { id } = await ada.owns('secret', { private: true })
  const told = async (path: string) => [path, (await expect(404, await ben.get(path))).message][1]
  const messages = ['/repos/ada/secret', '/repos/ada/nowhere', `/repositories/${id}`].map((repo) => told(`${repo}/rulesets`))
  assert.equal(new Set(await Promise.all(messages)).size, 1)
  for (const path of [
    '/repos/ada/secret',
    '/repos/ada/secret/issues',
    '/nothing',
    '/repos/ada/secret/constructor',
    '/user/toString',
  ]) {
    const answer = await ben.get(path)
    assert.equal(answer.headers.get('x-belfry-unserved'), null, path)
    assert.equal((await expect(404, answer)).message, 'Not Found', path)
  }
})
