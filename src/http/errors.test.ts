import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'

test('no credentials where a user is needed are 401, wrong ones are 401 anywhere', async () => {
  await using forge = await openForge()
  assert.equal((await expect(401, await forge.nobody.get('/user'))).message, 'Requires authentication')
  const wrong = forge.nobody.with({ authorization: 'token bfp_wrong' })
  assert.equal((await expect(401, await wrong.get('/'))).message, 'Bad credentials')
  assert.equal((await expect(401, await wrong.post('/user/repos', '{'))).message, 'Bad credentials')
})

test('a body that is no JSON, or no object, is 400 and says which', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  assert.equal((await expect(400, await ada.post('/user/repos', '{"name":'))).message, 'Problems parsing JSON')
  for (const body of ['[]', '"text"', '1', 'true']) {
    assert.equal((await expect(400, await ada.post('/user/repos', body))).message, 'Body should be a JSON object')
  }
})

test('missing, forbidden and wrongly typed keys are 422 and named', async () => {
  await using forge = await openForge()
  const [ada, admin] = [await forge.person('ada'), forge.admin]
  await ada.owns('engine')
  const says = async (answer: Response) => (await expect(422, answer)).message
  assert.equal(await says(await ada.post('/user/repos')), 'Invalid request.\n\n"name" wasn\'t supplied.')
  assert.equal(
    await says(await admin.post('/admin/organizations', {})),
    'Invalid request.\n\n"login", "admin" weren\'t supplied.',
  )
  assert.equal(
    await says(await ada.post('/user/repos', { name: 1, private: 'yes' })),
    "Invalid request.\n\nFor 'properties/name', 1 is not a string.\nFor 'properties/private', \"yes\" is not a boolean.",
  )
  assert.equal(
    await says(await ada.patch('/repos/ada/engine/invitations/1', { permissions: 'push', extra: 1 })),
    'Invalid request.\n\n"extra" is not a permitted key.',
  )
  assert.match(await says(await ada.post('/user/repos', { name: 'a\0b' })), /null character/)
})

test('half a character is no text, and becomes the sign for what cannot be shown', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const issue = await expect(201, await ada.post('/repos/ada/engine/issues', '{"title":"a\\ud83d","body":"@ben \\uDC00"}'))
  assert.deepEqual([issue.title, issue.body], ['a\ufffd', '@ben \ufffd'])
  const whole = await expect(201, await ada.post('/repos/ada/engine/issues', '{"title":"\\ud83d\\ude00"}'))
  assert.equal(whole.title, '😀')
})

test('a semantic fault is 422 with errors that name resource, code and field', async () => {
  await using forge = await openForge()
  const body = await expect(422, await forge.admin.post('/admin/users', { login: 'admin', email: 'a@example.com' }))
  assert.equal(body.message, 'Validation Failed')
  assert.deepEqual(body.errors, [{ resource: 'User', code: 'already_exists', field: 'login', message: 'login is already taken' }])
  assert.deepEqual(Object.keys(body), ['message', 'errors', 'documentation_url', 'status'])
})

test('a body is read as JSON whatever its content type says, and an empty one as none', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await expect(201, await ada.with({ 'content-type': 'application/x-www-form-urlencoded' }).post('/user/repos', '{"name":"one"}'))
  await expect(201, await ada.with({ 'content-type': 'a/b;;;' }).post('/user/repos', '{"name":"two"}'))
  await ada.owns('three')
  const ben = await forge.person('ben')
  await expect(202, await ben.with({ 'content-type': 'application/json' }).post('/repos/ada/three/forks', ''))
  await expect(202, await ben.post('/repos/ada/two/forks'))
})

test('GraphQL clients get a message that they can print, and the mark of what is not served', async () => {
  await using forge = await openForge()
  for (const url of [`${forge.web}/api/graphql`, `${forge.versioned}/graphql`]) {
    const answer = await forge.nobody.with({ 'content-type': 'text/plain' }).post(url, 'no JSON')
    assert.equal((await expect(404, answer)).message, 'Belfry serves no GraphQL. Use the REST API.')
    assert.equal(answer.headers.get('x-belfry-unserved'), 'true')
  }
})
