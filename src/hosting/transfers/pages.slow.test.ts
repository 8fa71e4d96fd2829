import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check, openBrowser, signIn } from '#test/browser.ts'
import { expect, openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { told } from '#test/inbox.ts'
import { openReceiver } from '#test/webhooks.ts'

test('a transfer is offered, seen in the inbox, and accepted under another name', async () => {
  await using forge = await openForge({ worker: true })
  await using browser = await openBrowser()
  const { page, picture } = browser
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.person('cy')
  await ada.owns('engine', { private: true, description: 'Turns numbers' })
  await ben.owns('engine', { private: true })
  await using receiver = await openReceiver()
  const hook = `Webhook to ${new URL(receiver.url).host}`
  await expect(201, await ada.post('/repos/ada/engine/hooks', { config: { url: `${receiver.url}token` } }))
  const { id } = await expect(201, await ada.put('/repos/ada/engine/collaborators/cy', { permission: 'push' }))
  const cy = await signedIn(forge, 'cy')
  assert.match(
    (await cy.fillAndFollow('/ada/engine/invitations', { answer: 'accept' })).text,
    /You are a collaborator of ada\/engine now/,
  )
  assert.ok(id)

  const giver = await signedIn(forge, 'ada')
  assert.match((await giver.get('/ada/engine/transfer')).text, /New owner/)
  const wrong = await giver.post('/ada/engine/transfer', { answer: 'offer', new_owner: 'nobody-here', new_name: '' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /There is no account &#39;nobody-here&#39;\./)
  const offer = { answer: 'offer', new_owner: 'ben', new_name: '' }
  assert.equal((await giver.post('/ada/engine/transfer', offer)).location, '/ada/engine/transfer')
  assert.match((await giver.get('/ada/engine/transfer')).text, /It is offered to .*ben/s)
  assert.equal((await giver.post('/ada/engine/transfer', { answer: 'cancel' })).status, 303)
  await giver.post('/ada/engine/transfer', offer)
  for (const [path, fields] of [
    ['/ada/engine/transfer', { answer: 'accept' }],
    ['/ada/engine/transfer', { answer: 'decline' }],
    ['/ada/absent/transfer', { answer: 'accept' }],
  ] as const) {
    assert.equal((await cy.post(path, fields)).status, 404)
  }
  assert.equal((await cy.get('/ada/engine/transfer')).status, 403)
  await told(forge)

  await signIn(page, forge, 'ben', '/notifications')
  assert.match(
    (await page.locator('.thread').first().textContent()) ?? '',
    /you are asked to accept it.*Transfer of ada\/engine/s,
  )
  await picture('transfer-in-inbox')
  await page.getByRole('link', { name: 'Transfer of ada/engine' }).click()
  await page.getByRole('heading', { name: 'Transfer of ada/engine' }).waitFor()
  assert.deepEqual(await ben.read('/notifications'), [], 'shown is read')
  const text = (await page.locator('main').textContent()) ?? ''
  for (const part of ['private', hook, 'cy (write)', 'Let ada go on pushing']) assert.ok(text.includes(part), part)
  assert.equal(text.includes('token'), false)
  await check(page)
  await picture('transfer-offered')
  await page.getByRole('button', { name: 'Accept' }).click()
  await page.getByRole('alert').waitFor()
  assert.match((await page.getByRole('alert').textContent()) ?? '', /Name already exists on this account: engine/)
  await page.getByLabel('Name').fill('motor')
  await page.getByRole('button', { name: 'Accept' }).click()
  await page.getByRole('heading', { name: 'Transfer accepted' }).waitFor()
  await check(page)
  await picture('transfer-accepted')
  const done = (await page.locator('main').textContent()) ?? ''
  for (const part of ['ben/motor', hook, 'No longer collaborators: cy (write)']) assert.ok(done.includes(part), part)
  assert.equal((await ada.get('/repos/ben/motor')).status, 404)
  await page.goto(`${forge.web}/ben/motor/transfer`)
  await picture('transfer-form')
})
