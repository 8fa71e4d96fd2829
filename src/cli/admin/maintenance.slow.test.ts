import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check, openBrowser } from '#test/browser.ts'
import { openForge } from '#test/forge.ts'
import { operatorOf } from '#test/operator.ts'

test('the notice of maintenance fits every width and both schemes, and is accessible', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page, inspect, picture } = browser
  await (await forge.person('ada')).owns('engine', { auto_init: true })
  await operatorOf(forge).text('maintenance', 'on', '--message', 'We move to another disk until 14:00 UTC.')
  forge.belfry.db.notifyTransactionEnd('committed elsewhere')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.goto(`${forge.web}/ada/engine`)
    assert.equal(await page.getByRole('region', { name: 'Maintenance' }).count(), 1)
    await picture(`maintenance-${colorScheme}`)
  }
  await check(page)
  await page.goto(`${forge.web}/login`)
  await page.getByLabel('Username or e-mail').or(page.locator('[name=login]')).first().fill('ada')
  await page.getByLabel('Password').fill('wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Nothing was saved').waitFor()
  await inspect('maintenance-form')
})
