import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { openForge } from '#test/forge.ts'

test('an operation is tried in place, also when the password is asked for', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  await using browser = await openBrowser()
  const { page, problems } = browser
  await signIn(page, forge, 'ada', '/docs/try/issues/create')
  await page.getByLabel('Body (JSON)').fill('{"title": "Smoke"}')
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Send POST request' }).click()
  await page.getByText('201 Created').waitFor()
  assert.equal(await page.getByLabel('Body (JSON)').inputValue(), '{"title": "Smoke"}')
  assert.match((await page.locator('#exchange .snippet pre').first().textContent()) ?? '', /Smoke/)
  // A button has less contrast while the pointer is on it.
  await page.mouse.move(0, 0)
  await browser.inspect('docs-try')
  assert.deepEqual(problems, [])
  forge.clock.advance(2 * 3600_000)
  await page.getByRole('button', { name: 'Send POST request' }).click()
  await page.getByLabel('Password').fill("ada's password")
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('201 Created').waitFor()
  assert.equal((await ada.read('/repos/ada/engine/issues')).length, 2)
})
