import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { check, openBrowser, signIn, tabTo } from '#test/browser.ts'
import { expect, openForge } from '#test/forge.ts'
import { type Came, pinged, settle } from '#test/hook-history.ts'
import { openReceiver } from '#test/webhooks.ts'

const path = '/ada/engine/settings/hooks'
const hooks = '/repos/ada/engine/hooks'

async function openEngine(worker = false) {
  const forge = await openForge({ worker })
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  return Object.assign(forge, { ada })
}

const titles = (page: Page) => page.locator('.deliveries .title').allTextContents()

test('a webhook is created by keyboard alone, and its deliveries appear without reloading', async () => {
  await using forge = await openEngine(true)
  await using receiver = await openReceiver()
  await using browser = await openBrowser()
  const { page, inspect, problems } = browser
  await signIn(page, forge, 'ada', path)
  await inspect('hooks-empty')
  await tabTo(page, 'main a.button')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${forge.web}${path}/new`)
  await tabTo(page, '#url')
  await page.keyboard.type('not an address')
  await tabTo(page, '#secret')
  await page.keyboard.type('hush')
  await tabTo(page, '[name="pick"]')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await tabTo(page, '[name="events"][value="issues"]')
  await page.keyboard.press('Space')
  await check(page)
  // Skips the browser's validation, so that the server validates.
  await page.evaluate("document.querySelector('.hook-form').noValidate = true")
  await tabTo(page, 'button.primary')
  await page.keyboard.press('Enter')
  await page.locator('#url-error').waitFor()
  assert.ok(await page.getByRole('checkbox', { name: 'issues' }).isChecked())
  assert.ok(await page.getByRole('checkbox', { name: 'push' }).isChecked())
  await inspect('hooks-error')
  await page.getByLabel('Payload URL').fill(receiver.url)
  await page.getByLabel('Secret').fill('hush')
  await page.keyboard.press('Enter')
  await page.getByText('A ping is being sent').waitFor()
  await page.evaluate('window.sameDocument = true')
  await page.locator('.deliveries .title', { hasText: 'ping' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await expect(201, await forge.ada.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  await page.locator('.deliveries .title', { hasText: 'issues.opened' }).waitFor()
  assert.deepEqual(await titles(page), ['issues.opened', 'ping'])
  assert.equal(await page.locator('.figures dd').first().textContent(), '2')
  assert.equal(await page.evaluate('window.sameDocument'), true)

  await page.locator('.deliveries .title').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/deliveries\/\d+$/)
  await tabTo(page, 'button.primary')
  await page.keyboard.press('Enter')
  await page.getByText('The delivery is being sent again').waitFor()
  await page.getByText('redelivery').waitFor()
  assert.equal(receiver.received.length, 3)
  await page.getByRole('link', { name: 'Diagnose' }).click()
  await page.getByRole('button', { name: 'Diagnose now' }).click()
  await page.getByText('All steps passed.').waitFor()
  await inspect('hooks-diagnosis')
  // The test submitted invalid forms on purpose.
  assert.deepEqual(
    problems.filter((text) => !/ 422 /.test(text)),
    [],
  )
})

/** A day with a peak, a quiet time and an outage of the receiver. */
async function openBusy() {
  const forge = await openEngine()
  const config = { url: 'https://ci.example.com/belfry/webhooks', content_type: 'json', secret: 'hush' }
  const events = ['push', 'issues', 'pull_request', 'release', 'star']
  const hook = await expect(201, await forge.ada.post(hooks, { config, events }))
  const down: Came = { status: 'failed to connect to host', status_code: 502, response_headers: null, response_body: null }
  for (const [hour, times] of [1, 2, 4, 6, 5, 0, 0, 0, 1, 3, 7, 8, 6, 4, 2, 3].entries()) {
    forge.clock.advance(70 * 60_000)
    for (let time = 1; time < times; time++) await expect(204, await forge.ada.post(`${hooks}/${hook.id}/pings`))
    await settle(forge, hook, { duration: 0.02 * (1 + ((hour * 7) % 17)) })
    if (hour > 10 && hour < 14) await pinged(forge, forge.ada, hooks, hook, { ...down, duration: 9 })
  }
  await expect(201, await forge.ada.post('/repos/ada/engine/issues', { title: 'Smoke & <b>steam</b>' }))
  const body = { response_headers: { 'content-type': 'application/json' }, response_body: '{"queued":true,"build":{"id":17}}' }
  await settle(forge, hook, body)
  await forge.ada.post(`${hooks}/${hook.id}/pings`)
  const off = { config: { url: 'https://chat.example.org/incoming', insecure_ssl: '1' }, events: ['*'], active: false }
  const other = await expect(201, await forge.ada.post(hooks, off))
  for (let count = 1; count < 12; count++) await expect(204, await forge.ada.post(`${hooks}/${other.id}/pings`))
  await pinged(forge, forge.ada, hooks, other, down)
  return Object.assign(forge, { hook, other })
}

test('a busy webhook', async (context) => {
  await using forge = await openBusy()
  await context.test('its pages are accessible and fit every screen', async () => {
    await using browser = await openBrowser()
    const { page, inspect, picture } = browser
    await signIn(page, forge, 'ada', path)
    for (const [end, name, look] of [
      ['', 'hooks-list', picture],
      [`/${forge.hook.id}?span=month&status=failure`, 'hook-month', inspect],
      [`/${forge.other.id}`, 'hook-held-back', inspect],
      [`/${forge.hook.id}/edit`, 'hook-edit', picture],
      [`/${forge.hook.id}/delete`, 'hook-delete', picture],
    ] as const) {
      await page.goto(`${forge.web}${path}${end}`)
      await look(name)
    }
    await page.goto(`${forge.web}${path}/${forge.hook.id}`)
    await picture('hook')
    await page.getByRole('link', { name: 'issues.opened' }).click()
    await page.waitForURL(/deliveries\/\d+$/)
    await picture('hook-delivery')
    const tops = async () =>
      Promise.all(['#request', '#response'].map(async (id) => (await page.locator(id).boundingBox())?.y ?? 0))
    const [request, response] = await tops()
    assert.equal(request, response)
    await page.setViewportSize({ width: 390, height: 844 })
    const [above = 0, below = 0] = await tops()
    assert.ok(below > above + 100)
  })
  await context.test('without scripts, it can be viewed, changed and deleted', async () => {
    await using browser = await openBrowser({ scripts: false })
    const { page } = browser
    await signIn(page, forge, 'ada', '/ada/engine/settings')
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('link', { name: 'https://ci.example.com', exact: false }).first().click()
    await page.getByRole('link', { name: 'Failed' }).click()
    await page.waitForURL(/status=failure/)
    assert.equal((await titles(page)).length, 3)
    await page.getByRole('link', { name: 'All', exact: true }).click()
    await page.waitForURL((url) => !url.searchParams.has('status'))
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByRole('link', { name: 'Newer' }).click()
    await page.getByRole('link', { name: 'issues.opened' }).click()
    await page.getByRole('button', { name: 'Redeliver' }).click()
    await page.getByText('The delivery is being sent again').waitFor()

    await page.getByRole('navigation', { name: 'Webhook' }).getByRole('link', { name: 'Settings' }).click()
    await page.waitForURL(/edit$/)
    assert.equal(await page.getByLabel('New secret').isVisible(), false)
    await page.getByLabel('Replace it').check()
    await page.getByLabel('New secret').fill('hush again')
    await page.getByLabel('Send me everything').check()
    assert.equal(await page.getByRole('checkbox', { name: 'issues' }).isVisible(), false)
    await page.getByRole('button', { name: 'Save webhook' }).click()
    await page.getByText('The former secret also signs until').waitFor()
    await page.getByRole('link', { name: 'Delete webhook' }).click()
    await page.getByRole('button', { name: 'Delete this webhook' }).click()
    await page.getByText('The webhook is deleted').waitFor()
    assert.equal(await page.locator('.rows > li').count(), 1)
  })
})
