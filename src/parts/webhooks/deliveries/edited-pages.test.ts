import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { expect } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { hooks, shareEngine } from '#test/hooks.ts'
import { delivered, openReceiver } from '#test/webhooks.ts'

const { forge, ada, hookTo } = await shareEngine({ worker: true })

test('a delivery is copied as curl, sent again with an edited payload, and compared', async () => {
  await using receiver = await openReceiver()
  const hook = await hookTo(receiver.url, { secret: 'hush' }, ['label'])
  await expect(201, await ada.post('/repos/ada/engine/labels', { name: `it's "quoted"` }))
  const first = (await delivered(ada, hook, 2)).find(({ event }: { event: string }) => event === 'label')
  const guest = await signedIn(forge, 'ada')
  const page = `/ada/engine/settings/hooks/${hook.id}/deliveries/${first.id}`
  const { text } = await guest.get(page)
  const command = /data-copy="([^"]*)"[^>]*aria-label="Copy as curl"/.exec(text)?.[1] ?? ''
  const decoded = command
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
  // A shell reads the same bytes as were sent: git runs it as an alias, without a network.
  const shell = decoded.replace(/^curl -X POST [\s\S]*--data-binary /, 'printf %s ')
  const body = await git(['-c', `alias.say=!f() { ${shell}; }; f`, 'say'])
  assert.deepEqual(JSON.parse(body), receiver.received.find(({ json }) => json.label)?.json)

  for (const bad of ['', '[]', '{', '"text"']) {
    const refused = await guest.fill(`${page}/edit`, { payload: bad })
    assert.equal(refused.status, 422)
    assert.match(refused.text, /The payload must be a JSON object/)
  }
  assert.match((await guest.fill(`${page}/edit`, { payload: '{"edited":true}' })).location ?? '', /done=again$/)
  const edited = (await delivered(ada, hook, 3)).find(
    ({ id, event }: { id: number; event: string }) => event === 'label' && id !== first.id,
  )
  const sent = receiver.received.at(-1)
  assert.deepEqual([sent?.json, sent?.headers['x-service-event']], [{ edited: true }, 'label'])
  assert.ok(sent?.headers['x-hub-signature-256'])

  const compared = await guest.get(`${page}/compare?with=${edited.id}`)
  assert.match(compared.text, /class="added">\+ {3}&quot;edited&quot;: true/)
  assert.match((await guest.get(`${page}/compare?with=${first.id}`)).text, /The payloads are the same/)
  assert.equal((await guest.get(`${page}/compare?with=999999999`)).status, 404)
})

test('only administrators edit and compare deliveries', async () => {
  await using receiver = await openReceiver()
  const hook = await hookTo(receiver.url)
  const [ping] = await delivered(ada, hook)
  await forge.person('ben')
  const ben = await signedIn(forge, 'ben')
  const page = `/ada/engine/settings/hooks/${hook.id}/deliveries/${ping.id}`
  for (const end of ['', '/edit', '/compare']) assert.ok([403, 404].includes((await ben.get(page + end)).status), end)
  await ben.get('/settings/profile')
  assert.ok([403, 404].includes((await ben.post(`${page}/edit`, { payload: '{}' })).status))
  assert.equal((await expect(200, await ada.get(`${hooks}/${hook.id}/deliveries`))).length, 1)
})
