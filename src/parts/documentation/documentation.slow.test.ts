import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBrowser } from '#test/browser.ts'
import { openForge } from '#test/forge.ts'

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
