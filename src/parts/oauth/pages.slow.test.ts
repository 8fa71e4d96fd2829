import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowser } from '#test/browser.ts'
import { type Forge, openForge } from '#test/forge.ts'
import { ask, authorizePath, register, signIn } from '#test/oauth.ts'
import { openReceiver } from '#test/webhooks.ts'

/** The application's own side: a page. */
async function openApplication() {
  const receiver = await openReceiver((response) => response.setHeader('content-type', 'text/plain').end('came back'))
  return Object.assign(receiver, { callback: `${receiver.url}back` })
}

async function open(forge: Forge, page: Page, callback_url: string) {
  await forge.person('ada')
  await forge.person('wren')
  const description = 'Shows the weather where your repositories are.'
  const app = await register(forge, { name: 'Weather for Repositories', owner: 'wren', callback_url, description })
  const { cookie } = await signIn(forge, 'ada')
  const [name = '', value = ''] = cookie.split('=')
  await page.context().addCookies([{ name, value, url: forge.web, httpOnly: true, sameSite: 'Lax' }])
  const ask = (more: Record<string, string>) => page.goto(`${forge.web}${authorizePath({ client_id: app.client_id, ...more })}`)
  return { app, ask }
}

test('in a browser: refusal, consent, what is new, skip and revoke', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  await using application = await openApplication()
  const { page, inspect, picture } = browser
  const { app, ask: authorize } = await open(forge, page, application.callback)
  const backAt = () => new URL(page.url())

  await authorize({ scope: 'gist user:email', state: 'first' })
  await picture('oauth-consent')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.waitForURL(`${application.callback}?*`)
  assert.deepEqual([backAt().searchParams.get('error'), backAt().searchParams.get('state')], ['access_denied', 'first'])

  await authorize({ scope: 'gist user:email', state: 'second\nline' })
  // By keyboard alone, from the top of the page.
  const focused = () => page.evaluate('document.activeElement.value')
  for (let steps = 0; steps < 20 && (await focused()) !== 'authorize'; steps++) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${application.callback}?*`)
  assert.equal(backAt().searchParams.get('state'), 'second\nline')
  const { scope } = await ask(forge, { ...app, code: backAt().searchParams.get('code') ?? '' })
  assert.equal(scope, 'gist,user:email')

  await authorize({ scope: 'gist', state: 'third' })
  assert.equal(backAt().searchParams.get('state'), 'third', 'nobody was asked')

  await authorize({ scope: 'repo gist', state: 'fourth' })
  await page.getByText('New: it will also be able to').waitFor()
  await inspect('oauth-consent-more')
  await page.locator('button[name=decision][value=authorize]').click()
  await page.waitForURL(`${application.callback}?*`)
  const { access_token } = await ask(forge, { ...app, code: backAt().searchParams.get('code') ?? '' })

  await page.goto(`${forge.web}/settings/applications`)
  await picture('oauth-applications')
  await page.getByRole('link', { name: 'Weather for Repositories' }).click()
  await page.waitForURL(`${forge.web}/settings/connections/applications/${app.client_id}`)
  await picture('oauth-connection')
  await page.getByRole('button', { name: 'Revoke access' }).click()
  await page.getByText('You have not authorized any application.').waitFor()
  assert.equal((await forge.nobody.with({ authorization: `token ${access_token}` }).get('/user')).status, 401)
  await authorize({})
  assert.ok(await page.getByRole('button', { name: 'Authorize' }).isVisible(), 'and everything is asked again')
})

test('in a browser: whoever is not signed in signs in, and goes on with the same request', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  await using application = await openApplication()
  const { page } = browser
  const { ask: authorize } = await open(forge, page, application.callback)
  await page.context().clearCookies()
  const state = 'a b&c=d?é'
  await authorize({
    scope: 'gist',
    state,
    login: 'ada',
    allow_signup: 'false',
    redirect_uri: `${application.callback}/deeper?own=1`,
  })
  const { pathname, searchParams: passed } = new URL(page.url())
  assert.deepEqual([pathname, [...passed.keys()].sort()], ['/login', ['allow_signup', 'login', 'return_to']])
  assert.equal(await page.locator('input[name=login]').inputValue(), 'ada')
  assert.equal(await page.getByRole('link', { name: 'Make an account' }).count(), 0)
  await page.locator('input[name=password]').fill("ada's password")
  await page.keyboard.press('Enter')
  await page.locator('button[name=decision][value=authorize]').click()
  await page.waitForURL(`${application.callback}/deeper?*`)
  const { searchParams } = new URL(page.url())
  assert.deepEqual([searchParams.get('own'), searchParams.get('state')], ['1', state])
  assert.ok(searchParams.get('code'))
})

test('in a browser: a device is connected', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page, inspect, picture } = browser
  const { app } = await open(forge, page, 'https://weather.example/back')
  const { user_code } = await ask(forge, { client_id: app.client_id, scope: 'repo' }, '/login/device/code')
  await page.goto(`${forge.web}/login/device`)
  await picture('oauth-device')
  await page.getByLabel('The code that your device shows').fill('wrong')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('No device waits').waitFor()
  await page.getByLabel('The code that your device shows').fill(user_code.toLowerCase())
  await page.keyboard.press('Enter')
  await page.getByText('started this yourself').waitFor()
  await inspect('oauth-device-consent')
  await page.locator('button[name=decision][value=authorize]').click()
  await page.getByRole('status').getByText('is connected').waitFor()
})
