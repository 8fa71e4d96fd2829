import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser } from '#test/browser.ts'
import { openForge } from '#test/forge.ts'

test('the reference can be read, filtered and linked to, in a browser that loads nothing from elsewhere', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page } = browser
  const foreign: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => request.url().startsWith(forge.web) || foreign.push(request.url()))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.goto(`${forge.web}/docs`)
  await browser.picture('docs')
  assert.equal(await page.title(), 'API reference · Belfry')
  const visible = () => page.locator('nav li:visible').count()
  const all = await visible()
  await page.getByPlaceholder('Filter operations').fill('post transfer')
  assert.equal(await visible(), 1)
  await page.locator('nav li:visible a').click()
  await page.waitForURL(/#repos\/transfer$/)
  await page.locator('[id="repos/transfer"] summary').click()
  assert.match(
    (await page.locator('[id="repos/transfer"] pre').textContent()) ?? '',
    /curl -X POST .*\/repos\/\{owner\}\/\{repo\}\/transfer/,
  )
  await browser.picture('docs-transfer')
  await page.getByPlaceholder('Filter operations').fill('')
  assert.equal(await visible(), all)
  assert.deepEqual([foreign, complaints], [[], []])
})

test('the first page leads on, and what has no page says so', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page } = browser
  await page.goto(forge.web)
  await browser.picture('home')
  await page.getByRole('link', { name: 'API reference' }).first().click()
  await page.waitForURL(/\/docs$/)
  const lost = await page.goto(`${forge.web}/no/such/page`)
  assert.equal(lost?.status(), 404)
  assert.match((await page.textContent('h1')) ?? '', /no such page/)
})

test('every account has a picture', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const { avatar_url } = await ada.read('/user')
  const answer = await fetch(avatar_url)
  assert.equal(answer.headers.get('content-type'), 'image/svg+xml')
  assert.match(await answer.text(), /^<svg .*<\/svg>$/)
  assert.equal((await fetch(`${forge.web}/avatars/none`)).status, 404)
})
