import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check, openBrowser, signIn } from '#test/browser.ts'
import { expect, openForge } from '#test/forge.ts'

test('a person makes a token for an organization, and gives the password on the way', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page, inspect, picture } = browser
  const ada = await forge.person('ada')
  await forge.organization('acme', ada)
  for (const name of ['engine', 'wheels']) await expect(201, await ada.post('/orgs/acme/repos', { name, private: true }))
  const path = '/settings/tokens/fine-grained'
  await signIn(page, forge, 'ada', path)
  await picture('fine-grained-own')
  await page.getByLabel('Resource owner').selectOption('acme')
  await page.getByRole('button', { name: 'Change owner' }).click()
  await page.waitForURL(`${forge.web}${path}?owner=acme`)
  await inspect('fine-grained-organization')
  await page.getByLabel('What it is for').fill('Dashboard of the build room')
  await page.getByLabel('Only these:').check()
  await page.getByLabel('engine').check()
  await page.getByRole('group', { name: 'Permissions on the organization acme' }).getByLabel('events').selectOption('read')
  forge.clock.advance(3600_001)
  await page.getByRole('button', { name: 'Make a token' }).click()
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
  await check(page)
  await page.getByLabel('Password').fill('not it')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('alert').waitFor()
  await inspect('confirm-password')
  await page.getByLabel('Password').fill("ada's password")
  await page.getByRole('button', { name: 'Confirm' }).click()
  const token = (await page.locator('.secret').textContent()) ?? ''
  assert.match(token, /^bff_/)
  await inspect('fine-grained-made')
  const holder = forge.nobody.with({ authorization: `Bearer ${token}` })
  assert.equal((await holder.read('/users/ada/events/orgs/acme')).length, 1, 'it reaches one of the two repositories')
})
