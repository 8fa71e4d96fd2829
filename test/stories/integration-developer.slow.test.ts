import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signIn } from '../browser.ts'
import { openForge, Person } from '../forge.ts'
import { until } from '../machine.ts'
import { openReceiver } from '../webhooks.ts'
import { openReader } from './reader.ts'

test('an integration developer makes a token, an application and a webhook, and debugs a delivery', async () => {
  await using forge = await openForge({ worker: true, settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  await using receiver = await openReceiver()
  await using reader = await openReader(forge)
  const { page, problems, open, isAt, reads, follow, press, reload } = reader
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: forge.web })

  // A token, shown once.
  await signIn(page, forge, 'ada', '/settings/tokens')
  await page.getByLabel('What it is for').fill('Bot')
  await page.getByRole('checkbox', { name: 'repo', exact: true }).check()
  await press(/^(Make|Create|Generate) a? ?token/)
  const token = (await page.locator('.secret').first().textContent())?.trim() ?? ''
  assert.match(token, /^bfp_\w{36}$/)
  await reload()
  assert.equal(await page.locator('.secret').count(), 0)

  // An application that people let act for them.
  await open('/settings/developers')
  await page.getByLabel('Name', { exact: true }).fill('Chimes')
  await page.getByLabel('Home page').fill('https://chimes.example')
  await page.getByLabel('Callback URL').fill('https://chimes.example/callback')
  await press(/^Register/)
  await reads('Client secret')
  await reload()
  assert.equal(await page.locator('.secret').count(), 0)

  // A webhook, and something that happens.
  await open('/ada/engine/settings/hooks')
  await follow('Add webhook')
  await page.getByLabel('Payload URL').fill(receiver.url)
  await page.getByLabel('Secret').fill('hush')
  await page.getByLabel('Send me everything').check()
  await press('Add webhook')
  await isAt(/^\/ada\/engine\/settings\/hooks\/\d+/)
  await page.locator('.deliveries .title', { hasText: 'ping' }).waitFor()
  const bot = new Person('ada', token, forge)
  assert.equal((await bot.post('/repos/ada/engine/issues', { title: 'Smoke' })).status, 201)
  const opened = page.locator('.deliveries .title', { hasText: 'issues.opened' })
  await opened.click()
  await isAt(/deliveries\/\d+$/)
  const delivery = new URL(page.url()).pathname

  // The delivery: as curl, sent again with an edit, and compared.
  await press('Copy as curl')
  const copied = async () => /^curl .*X-GitHub-Event: issues/s.test(await page.evaluate('navigator.clipboard.readText()'))
  await until('the request is copied', copied)
  await follow('Edit and send')
  await isAt(`${delivery}/edit`)
  const payload = page.getByLabel('Payload', { exact: true })
  await payload.fill((await payload.inputValue()).replaceAll('Smoke', 'Steam'))
  await press(/^Send/)
  await isAt(/hooks\/\d+/)
  await opened.nth(1).waitFor()
  await reload()
  assert.equal(receiver.received.filter(({ json }) => json.issue?.title === 'Steam').length, 1)
  await opened.first().click()
  await isAt(/deliveries\/\d+$/)
  await follow('Compare')
  await isAt(/compare/)
  await page.getByLabel('Compare with').selectOption({ index: 1 })
  await press('Compare')
  await reads('Steam')
  await reader.back(/compare/)

  // The feed of the repository, and the reference.
  await open('/ada/engine')
  const feed = await page.locator('link[type="application/atom+xml"]').first().getAttribute('href')
  const { status, headers } = await fetch(new URL(feed ?? '', forge.web))
  assert.deepEqual([status, headers.get('content-type')?.split(';')[0]], [200, 'application/atom+xml'])
  await open('/docs')
  await page.getByRole('heading', { level: 1 }).waitFor()
  assert.deepEqual(problems, [])
})
