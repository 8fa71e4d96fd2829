import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { sql } from '#platform/database.ts'
import { check, openBrowser, signIn, tabTo } from '#test/browser.ts'
import { openForge } from '#test/forge.ts'

test('a person signs up, turns two-factor on, and signs in with it', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page, inspect, picture } = browser
  const elsewhere: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(forge.web) && !request.url().startsWith('data:')) elsewhere.push(request.url())
  })

  await page.goto(`${forge.web}/login`)
  await picture('sign-in')
  await page.getByRole('link', { name: 'Make an account' }).click()
  await page.getByLabel('Login').fill('settings')
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await page.getByLabel('Password').fill('analytical engine')
  await page.getByRole('button', { name: 'Make an account' }).click()
  await page.getByRole('alert').waitFor()
  await inspect('sign-up')
  await page.getByLabel('Login').fill('ada')
  await page.getByLabel('Password').fill('analytical engine')
  await page.getByRole('button', { name: 'Make an account' }).click()
  await page.getByTitle('Signed in as').waitFor()

  await page.goto(`${forge.web}/settings/security`)
  await picture('security')
  await page.getByRole('link', { name: 'Set up an authenticator app' }).click()
  await picture('two-factor-app')
  assert.ok(await page.locator('img.qr').evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0))
  const seed = ((await page.locator('.seed').textContent()) ?? '').replaceAll(' ', '')
  const code = () => new TOTP({ secret: Secret.fromBase32(seed) }).generate({ timestamp: forge.clock.now().getTime() })
  await page.getByLabel('Code').fill(code())
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('copy this now').waitFor()
  await inspect('recovery-codes')
  await page.goto(`${forge.web}/settings/security`)
  await inspect('security-on')

  await page.getByTitle('Signed in as').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByTitle('Signed in as').waitFor({ state: 'detached' })
  forge.clock.advance(30_000)
  await page.goto(`${forge.web}/login?return_to=/settings/sessions`)
  // With the keyboard only, from the top of the page.
  await tabTo(page, '#login')
  await page.keyboard.type('ada')
  await page.keyboard.press('Tab')
  await page.keyboard.type('analytical engine')
  await page.keyboard.press('Enter')
  await page.getByLabel('Code from the app').waitFor()
  await inspect('one-time-code')
  if (!(await page.evaluate("document.activeElement.matches('#otp')"))) await tabTo(page, '#otp')
  await page.keyboard.type(code())
  await page.keyboard.press('Enter')
  await page.waitForURL(`${forge.web}/settings/sessions`)
  await page.getByText('this browser').waitFor()
  await picture('sessions')
  assert.deepEqual(elsewhere, [])
})

test('the other settings are readable and usable', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page, inspect, picture } = browser
  const ada = await forge.person('ada')
  for (const name of ['engine', 'a-repository-with-quite-a-long-name-that-goes-on-and-on-and-on-for-a-while', 'notes']) {
    await ada.owns(name, { private: name === 'notes' })
  }
  await signIn(page, forge, 'ada', '/settings/tokens')
  await page.getByLabel('What it is for').fill('Deploys')
  await page.getByRole('checkbox', { name: 'public_repo' }).check()
  await page.getByRole('button', { name: 'Make a token' }).click()
  await page.getByText('Your new token').waitFor()
  await inspect('tokens')
  await page.reload()
  assert.equal(await page.getByText('Your new token').count(), 0, 'a reload shows it no more')
  await page.getByRole('link', { name: 'Delete Deploys' }).click()
  await page.getByRole('heading', { name: 'Delete this token?' }).waitFor()
  await inspect('token-delete')
  await page.getByRole('link', { name: 'Keep it' }).click()
  await page.waitForURL(`${forge.web}/settings/tokens`)

  await page.getByRole('link', { name: 'Fine-grained tokens' }).click()
  // Both pages have this field.
  await page.waitForURL(/fine-grained/)
  await page.getByLabel('What it is for').fill('Reads the notes')
  await page.getByLabel('Only these').check()
  await page.getByRole('checkbox', { name: 'notes' }).check()
  await page.getByLabel('contents').selectOption('Read')
  await page.getByRole('button', { name: 'Make a token' }).click()
  await page.getByText('Your new token').waitFor()
  await picture('tokens-fine-grained')

  await page.getByRole('link', { name: 'My OAuth applications' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Rook')
  await page.getByLabel('Home page').fill('https://rook.example')
  await page.getByLabel('Callback URL').fill('https://rook.example/back')
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByText('The application is registered').waitFor()
  await inspect('application')

  for (const [path, name] of [
    ['/settings/profile', 'profile'],
    ['/settings/security/text', 'two-factor-text'],
  ] as const) {
    await page.goto(`${forge.web}${path}`)
    await picture(name)
  }
})

test('a person changes the primary address, and downloads their data', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page, inspect, picture, problems } = browser
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const longEnough = 2 * 3_600_000
  const confirm = async () => {
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    await page.getByLabel('Password').fill("ada's password")
    await page.getByRole('button', { name: 'Confirm' }).click()
  }

  await signIn(page, forge, 'ada', '/settings/emails')
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('ada@work.example')
  await page.getByRole('button', { name: 'Add address' }).click()
  await page.getByText('ada@work.example is added.').waitFor()
  await inspect('emails-added')
  await page.getByLabel('Remove ada@work.example').click()
  await check(page)
  forge.clock.advance(longEnough)
  await page.getByRole('link', { name: 'Make primary: ada@work.example' }).click()
  await page.getByRole('heading', { name: 'Change your primary address?' }).waitFor()
  await inspect('emails-primary')
  await page.getByRole('button', { name: 'Make it the primary address' }).click()
  await confirm()
  await page.getByText('ada@work.example is your primary address now.').waitFor()
  assert.partialDeepStrictEqual(await ada.read('/user/emails'), [{ email: 'ada@work.example', primary: true }])

  forge.clock.advance(longEnough)
  await page.getByRole('link', { name: 'Export your data' }).click()
  await page.waitForURL(`${forge.web}/settings/export`)
  await picture('export')
  await page.getByRole('button', { name: 'Make an archive' }).click()
  await confirm()
  await page.getByRole('heading', { name: 'Your archive is ready to download' }).waitFor()
  await inspect('export-ready')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the archive' }).click(),
  ])
  assert.match(download.suggestedFilename(), /^belfry-ada-[\d-]{10}\.tar\.gz$/)
  assert.equal(await download.failure(), null)
  // The page that asks for the password answers 403, which the console of the browser mentions.
  assert.deepEqual(
    problems.filter((text) => !text.includes('status of 403')),
    [],
  )
})

test('what was written when the session ended is there again after signing in', async () => {
  await using forge = await openForge()
  await using browser = await openBrowser()
  const { page, inspect, picture } = browser
  const ada = await forge.person('ada')
  await ada.owns('engine')
  await signIn(page, forge, 'ada', '/ada/engine/issues/new')
  await page.getByLabel('Title').fill('The mill turns backwards')
  await page.getByLabel('Description').fill('Line one\n\n- line two')
  await forge.belfry.db.query(sql`delete from sessions`)
  await page.getByRole('button', { name: /issue/i }).click()
  await page.getByText('You were signed out').waitFor()
  await inspect('signed-out-while-writing')
  await page.getByLabel('Login or e-mail address').fill('ada')
  await page.getByLabel('Password').fill("ada's password")
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'What you wrote' }).waitFor()
  await inspect('what-you-wrote')
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture('what-you-wrote-dark')
  await page.getByRole('button', { name: 'Send it now' }).click()
  await page.getByText('line two').waitFor()
  assert.equal((await ada.read('/repos/ada/engine/issues/1')).body, 'Line one\n\n- line two')
})
