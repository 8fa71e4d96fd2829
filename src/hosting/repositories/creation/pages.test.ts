import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

async function open() {
  const forge = await openForge()
  const [ada, eve, admin] = [await forge.person('ada'), await forge.person('eve'), forge.admin]
  await expect(201, await admin.post('/admin/organizations', { login: 'acme', admin: 'ada' }))
  return Object.assign(forge, { ada, eve, page: await signedIn(forge, 'ada') })
}

test('a user creates a repository for themselves or in an organization', async () => {
  await using forge = await open()
  const { page, ada } = forge
  assert.match((await new Guest(forge).get('/new')).location ?? '', /^\/login/)
  const form = await page.get('/new?owner=ACME&name=engine&visibility=private')
  assert.match(form.text, /<option value="acme" selected>/)
  assert.match(form.text, /value="engine"/)
  assert.match(form.text, /value="private" checked/)
  const made = await page.post('/new', {
    owner: 'ada',
    name: 'engine',
    description: 'Turns',
    visibility: 'public',
    readme: 'yes',
    gitignore: 'Node',
    license: 'mit',
  })
  assert.equal(made.location, '/ada/engine')
  assert.partialDeepStrictEqual(await ada.read('/repos/ada/engine'), { description: 'Turns', private: false })
  const files = (await ada.read('/repos/ada/engine/contents')).map(({ path }: { path: string }) => path)
  assert.deepEqual(files, ['.gitignore', 'LICENSE', 'README.md'])
  assert.equal((await page.post('/new', { owner: 'acme', name: 'plans', visibility: 'private' })).location, '/acme/plans')
  assert.equal((await ada.read('/repos/acme/plans')).private, true)
})

test('a refused form is shown again with what was typed', async () => {
  await using forge = await open()
  const { page } = forge
  const hostile = '"><script>alert(1)</script>'
  await page.fill('/new', { owner: 'ada', name: 'engine' })
  const again = await page.post('/new', { owner: 'ada', name: 'Engine', description: hostile, visibility: 'private' })
  assert.equal(again.status, 422)
  assert.match(again.text, /role="alert">Name already exists on this account/)
  assert.ok(again.text.includes('value="&quot;&gt;&lt;script&gt;') && !again.text.includes(hostile))
  assert.match(again.text, /value="private" checked/)
  for (const [owner, name] of [
    ['eve', 'x'],
    ['ada', ''],
    ['ada', '..'],
    ['', 'x'],
    ['\0', '\0'],
  ] as const) {
    assert.equal((await page.post('/new', { owner, name })).status, 422, `${owner}/${name}`)
  }
  assert.equal((await page.post('/new', { owner: 'ada', name: 'x', gitignore: 'Nothing', license: '..' })).status, 422)
  assert.deepEqual(errorsOf(forge), [])
})

test('the form says whether a name is available', async () => {
  await using forge = await open()
  await forge.ada.owns('engine')
  const check = async (name: string, owner = 'ada') =>
    JSON.parse((await forge.page.get(`/new/name?${new URLSearchParams({ owner, name })}`)).text)
  assert.deepEqual(await check('ENGINE'), { available: false, message: 'ada/ENGINE exists already.' })
  assert.deepEqual(await check('my plans'), { available: true, message: 'It will be called my-plans.' })
  assert.deepEqual(await check('engine', 'acme'), { available: true, message: 'acme/engine is available.' })
  assert.equal((await check('x.git')).available, false)
  assert.equal((await forge.page.get('/new/name?owner=eve&name=x')).status, 422)
})

test('an import begins with an empty repository', async () => {
  await using forge = await open()
  const started = await forge.page.fill('/new/import', { owner: 'acme', name: 'old', visibility: 'private' })
  assert.equal(started.location, '/acme/old/import')
  assert.equal((await forge.page.get('/acme/old/import')).status, 200)
  assert.equal((await forge.page.post('/new/import', { owner: 'acme', name: 'old' })).status, 422)
})

test('a fork goes into an account that has none yet', async () => {
  await using forge = await open()
  const { page, eve, ada } = forge
  await eve.owns('engine')
  await eve.owns('diary', { private: true })
  assert.equal((await page.get('/eve/diary/fork')).status, 404)
  assert.equal((await page.get('/ada/engine/fork')).status, 404)
  assert.match((await page.get('/eve/engine/fork')).text, /Create a fork/)
  const made = await page.post('/eve/engine/fork', { owner: 'ada', name: 'motor', default_branch_only: 'yes' })
  assert.equal(made.location, '/ada/motor')
  assert.equal((await ada.read('/repos/ada/motor')).parent.full_name, 'eve/engine')
  const later = (await page.get('/eve/engine/fork')).text
  assert.match(later, /ada\/<strong>motor<\/strong>/)
  assert.doesNotMatch(later, /<option value="ada"/)
  assert.equal((await page.post('/eve/engine/fork', { owner: 'eve', name: 'x' })).status, 422)
  assert.equal((await page.post('/eve/diary/fork', { owner: 'ada', name: 'x' })).status, 404)
  await page.post('/eve/engine/fork', { owner: 'acme', name: 'engine' })
  assert.match((await page.get('/eve/engine/fork')).text, /There is no other account to fork into/)
  assert.deepEqual(errorsOf(forge), [])
})

test('a repository is made from a template', async () => {
  await using forge = await open()
  const { page, eve, ada } = forge
  await eve.owns('mould', { is_template: true, private: true })
  await eve.owns('shape', { is_template: true })
  await eve.owns('engine')
  for (const name of ['mould', 'engine', 'absent']) assert.equal((await page.get(`/eve/${name}/generate`)).status, 404, name)
  assert.match((await page.get('/eve/shape')).text, /href="\/eve\/shape\/generate"/)
  const made = await page.fill('/eve/shape/generate', { owner: 'acme', name: 'cast', visibility: 'private' })
  assert.equal(made.location, '/acme/cast')
  assert.partialDeepStrictEqual(await ada.read('/repos/acme/cast'), {
    private: true,
    template_repository: { full_name: 'eve/shape' },
  })
  const again = await page.post('/eve/shape/generate', { owner: 'acme', name: 'cast', description: 'Kept' })
  assert.equal(again.status, 422)
  assert.match(again.text, /value="Kept"/)
  assert.deepEqual(errorsOf(forge), [])
})
