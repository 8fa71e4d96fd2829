import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestMeter } from '#http/request-meter.ts'
import { openBrowser } from '#test/browser.ts'
import { expect, openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { storeSample } from './samples.ts'

/** A forge with a site admin who signs in as `root`. */
async function openSite() {
  const forge = await openForge()
  const [ada] = [await forge.person('ada'), await forge.person('ben'), await forge.person('root')]
  await expect(204, await forge.admin.put('/users/root/site_admin'))
  return Object.assign(forge, { ada, guest: await signedIn(forge, 'root') })
}

const places = [
  '',
  '/users',
  '/users/new',
  '/users/ben',
  '/organizations',
  '/repositories',
  '/jobs',
  '/requests',
  '/audit',
  '/settings',
].map((path) => `/site-admin${path}`)

test('secrets are not among the settings shown, and pages are accessible', async () => {
  await using forge = await openSite()
  const { text } = await forge.guest.get('/site-admin/settings')
  assert.equal(text.includes(forge.belfry.settings.BELFRY_ADMIN_TOKEN ?? ''), false)
  await using browser = await openBrowser()
  const { page, inspect, problems } = browser
  await page.goto(`${forge.web}/login?login=root&return_to=%2Fsite-admin`)
  await page.getByLabel('Password').fill("root's password")
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${forge.web}/site-admin`)
  await storeSample(forge.belfry.db, 'one', new RequestMeter())
  for (const path of places) {
    await page.goto(`${forge.web}${path}`)
    await inspect(`admin${path.slice(11).replaceAll('/', '-')}`)
  }
  assert.deepEqual(problems, [])
})
