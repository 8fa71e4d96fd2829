import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'

async function openEngine() {
  const forge = await openForge()
  const [ada] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { auto_init: true })
  return Object.assign(forge, { ada, guest: await signedIn(forge, 'ada') })
}
const settings = '/ada/engine/settings'

test('the sections of the settings lead to each other', async () => {
  await using forge = await openEngine()
  await using browser = await openBrowser()
  const { page } = browser
  await signIn(page, forge, 'ada', settings)
  await browser.picture('repository-settings')
  for (const name of ['Collaborators', 'Branch protection', 'Deploy keys', 'Webhooks']) {
    await page.getByRole('link', { name }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await browser.picture(`repository-settings-${name.toLowerCase().replace(' ', '-')}`)
  }
  assert.deepEqual(browser.problems, [])
})
