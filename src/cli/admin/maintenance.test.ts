import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { expect, injecting, openForge } from '#test/forge.ts'
import { Guest } from '#test/guest.ts'
import { operatorOf } from '#test/operator.ts'

const inject = injecting(openForge)

test('during maintenance, writes get 503 with Retry-After, and reads go on', inject(async (forge) => {
  const operator = operatorOf(forge)
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  /** As a notification of the command would, or the time. */
  const pass = () => forge.belfry.db.notifyTransactionEnd('committed elsewhere')
  const remote = `${forge.web.replace('//', `//ada:${ada.token}@`)}/ada/engine.git`
  const begin = await ada.post('/repos/ada/engine/issues', { title: 'Before' })
  await expect(201, begin)
  await operator.text('maintenance', 'on', '--message', 'We move to another disk.', '--retry-after', '120')
  pass()
  for (const client of [ada, ada.versioned]) {
    const refused = await client.post('/repos/ada/engine/issues', { title: 'Meanwhile' })
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '120'])
    assert.equal((await refused.json()).message, 'This server is read-only for maintenance. We move to another disk.')
    assert.equal((await client.get('/repos/ada/engine/issues')).status, 200)
    assert.equal((await client.post('/markdown', { text: '*read*' })).status, 200)
  }
  assert.equal((await forge.nobody.post('/user/repos', { name: 'x' })).status, 401, 'who may not write is told that first')
  const refs = (service: string) => fetch(`${forge.web}/ada/engine.git/info/refs?service=${service}`, { headers: ada.headers })
  assert.equal((await refs('git-receive-pack')).status, 503)
  assert.match(await git(['ls-remote', remote]), /refs\/heads\/main/)
  const page = await new Guest(forge).get('/login')
  assert.equal(page.status, 200)
  const sent = await fetch(`${forge.web}/login`, { method: 'POST', body: new URLSearchParams({ login: 'ada', password: 'x' }) })
  assert.equal(sent.status, 503)
  const refused = await sent.text()
  for (const shown of [page.text, refused]) assert.match(shown, /read-only for maintenance\.<\/strong> We move to another disk\./)
  assert.match(refused, /Nothing was saved/)
  assert.match((await new Guest(forge).get('/nothing/here')).text, /We move to another disk/)
  const pushed = await git(['push', remote, 'HEAD:refs/heads/x']).catch((error: Error) => error.message)
  assert.match(pushed, /We move to another disk\./, 'git shows the reason')
  assert.match(await operator.text('maintenance', 'status'), /^On since .*: We move to another disk\.$/)
  await operator.text('maintenance', 'off')
  pass()
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'After' }))
  assert.equal((await refs('git-receive-pack')).status, 200)
  assert.doesNotMatch((await new Guest(forge).get('/login')).text, /read-only/)
  assert.match((await operator.run('maintenance', 'on', '--message', 'x'.repeat(501))).stderr, /1 to 500 characters/)
  assert.deepEqual(await operator.data('maintenance', 'off'), { maintenance: false, ended: false })
  const actions = (await operator.data('audit', '--action', 'site')).map(({ action }: { action: string }) => action)
  assert.deepEqual(actions, ['site.maintenance_off', 'site.maintenance_on'])
}))
