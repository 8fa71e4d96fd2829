import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findClient } from '#identity/clients.ts'
import { openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'

const place = '/settings/developers'
const fields = { name: 'Rook & Co', url: 'https://rook.example', callback_url: 'https://rook.example/back', description: '' }

test('an application is registered, changed, given a new secret and deleted', async () => {
  await using forge = await openForge()
  const { db } = forge.belfry
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  const made = await ada.fillAndFollow(place, { ...fields, strict_redirect: 'yes' })
  const client_id = /Client id: <code>(\w+)</.exec(made.text)?.[1] ?? ''
  const secretIn = (text: string) => /class="secret">(\w+)</.exec(text)?.[1] ?? ''
  const secret = secretIn(made.text)
  assert.equal((await findClient(db, { client_id, client_secret: secret, address: '127.0.0.1' }))?.strict_redirect, true)
  const own = `${place}/${client_id}`
  assert.ok(!(await ada.get(own)).text.includes(secret), 'shown once')
  assert.match((await ada.get(place)).text, /Rook &amp; Co/)

  const wrong = await ada.post(own, { ...fields, name: 'Kept', callback_url: 'not an address' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /role="alert">The callback is an absolute address/)
  assert.match(wrong.text, /value="Kept"/)
  await ada.post(own, { ...fields, name: 'Raven' })
  const changed = await findClient(db, { client_id, client_secret: secret, address: '127.0.0.1' })
  assert.deepEqual([changed?.name, changed?.strict_redirect], ['Raven', false])

  const renewed = secretIn((await ada.postAndFollow(`${own}/secret`, {})).text)
  assert.equal(await findClient(db, { client_id, client_secret: secret, address: '127.0.0.1' }), undefined)
  assert.ok(await findClient(db, { client_id, client_secret: renewed, address: '127.0.0.1' }))
  assert.match((await ada.postAndFollow(`${own}/delete`, {})).text, /Raven is deleted/)
  assert.equal(await findClient(db, { client_id, client_secret: renewed, address: '127.0.0.1' }), undefined)
  assert.equal((await ada.get(own)).status, 404)
})

test('other people’s applications are as good as not there', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  await forge.person('eve')
  const [ada, eve] = [await signedIn(forge, 'ada'), await signedIn(forge, 'eve')]
  const client_id = /Client id: <code>(\w+)</.exec((await ada.fillAndFollow(place, fields)).text)?.[1]
  await eve.get(place)
  assert.equal((await eve.get(`${place}/${client_id}`)).status, 404)
  for (const action of ['', '/secret', '/delete']) {
    assert.equal((await eve.post(`${place}/${client_id}${action}`, fields)).status, 404)
  }
  assert.equal((await ada.get(`${place}/${client_id}`)).status, 200)
})
