import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBrowser } from '#test/browser.ts'
import { openForge } from '#test/forge.ts'
import { Guest } from '#test/guest.ts'

test('the reference is one page for each group, is searched while one types, and loads nothing from elsewhere', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page, problems } = browser
  const foreign: string[] = []
  page.on('request', (request) => request.url().startsWith(forge.web) || foreign.push(request.url()))
  await page.goto(`${forge.web}/docs`)
  assert.equal(await page.title(), 'API reference · Belfry')
  await browser.inspect('docs')
  await page.getByLabel('Find an operation').fill('post transfer')
  await page.locator('#found').getByText('/repos/{owner}/{repo}/transfer').first().click()
  await page.waitForURL(`${forge.web}/docs/repository-transfers#repos/transfer`)
  const operation = page.locator('[id="repos/transfer"]')
  assert.match((await operation.locator('pre').first().textContent()) ?? '', /^curl -X POST '.*\/repos\/OWNER\/REPO\/transfer'/)
  await browser.inspect('docs-transfers')
  // The language that was chosen last stays, on other pages too.
  await operation.getByText('Python', { exact: true }).click()
  await page.goto(`${forge.web}/docs#repos/get`)
  await page.waitForURL(`${forge.web}/docs/repositories#repos/get`)
  assert.match((await page.locator('[id="repos/get"] pre:visible').first().textContent()) ?? '', /^import requests/)
  assert.deepEqual([foreign, problems], [[], []])
})

test('every group and every operation has an address, and a search needs no script', async () => {
  await using forge = await openForge()
  const guest = new Guest(forge)
  const { text } = await guest.get('/docs')
  const groups = [...new Set([...text.matchAll(/href="(\/docs\/[a-z-]+)"/g)].map(([, path = '']) => path))]
  assert.ok(groups.length > 60)
  const found: string[] = []
  for (const path of groups) {
    const shown = await guest.get(path)
    assert.equal(shown.status, 200, path)
    assert.doesNotMatch(shown.text, /undefined|\[object Object\]|NaN/, path)
    found.push(...[...shown.text.matchAll(/<section class="operation" id="([^"]+)"/g)].map(([, id = '']) => id))
  }
  const served = Object.values(
    (await forge.nobodyVersioned.read('/openapi.json')).paths as Record<string, Record<string, { operationId: string }>>,
  )
  const ids = served.flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  assert.deepEqual(found.sort(), ids.sort())
  assert.equal((await guest.get('/docs/operations/issues/create')).location, '/docs/issues#issues/create')
  const list = (await guest.get('/docs?q=STAR+put')).text
  assert.match(list, /2 operations for/)
  assert.match(list, /href="\/docs\/starring#activity\/star-repo-for-authenticated-user"/)
  assert.match((await guest.get('/docs?q=no+such+thing')).text, /No operation has all words/)
  const hostile = '"><img src=x onerror=alert(1)>'
  assert.doesNotMatch((await guest.get(`/docs?q=${encodeURIComponent(hostile)}`)).text, /<img src=x/)
  for (const path of ['/docs/none', '/docs/operations/none/none', `/docs/${encodeURIComponent(hostile)}`])
    assert.equal((await guest.get(path)).status, 404, path)
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

test('the page of conformance is accessible, and lists every recorded check', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page, problems } = browser
  await page.goto(`${forge.web}/docs/conformance`)
  await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true })`)
  await browser.inspect('docs-conformance')
  const { checks } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../docs/conformance.json'), 'utf8'))
  assert.equal(await page.locator('.conformance-check').count(), checks.length)
  assert.deepEqual(problems, [])
})
