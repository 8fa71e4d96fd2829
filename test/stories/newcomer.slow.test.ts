import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '../forge.ts'
import { openReader } from './reader.ts'

test('a newcomer makes an account, a repository and an issue, by keyboard alone', async () => {
  await using forge = await openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true, description: 'Computes what you tell it to' })
  await using reader = await openReader(forge)
  const { page, problems, open, isAt, reads, keyTo } = reader

  // The first page says what this is, and leads to an account.
  await open('/')
  await reads('ada created a repository')
  await keyTo('main a[href="/signup"]')
  await isAt('/signup')
  await keyTo('#login', 'nora')
  await keyTo('#email', 'nora@example.com')
  await keyTo('#password', 'a good password')
  await page.keyboard.press('Enter')
  await isAt('/')
  await reads('Welcome, nora')
  await reader.reload()

  // A profile, from the menu of the account.
  await keyTo('header summary[aria-label="Signed in as nora"]')
  await keyTo('header a[href="/settings/profile"]')
  await isAt('/settings/profile')
  await keyTo('#name', 'Nora Vale')
  await keyTo('#bio', 'New here')
  await page.keyboard.press('Enter')
  await reads(/saved/i)
  await reader.reload()
  assert.equal(await page.getByLabel('About you').inputValue(), 'New here')

  // A repository, from the menu with the plus sign.
  await keyTo('header summary[aria-label="Create"]')
  await keyTo('header a[href="/new"]')
  await isAt('/new')
  await keyTo('main #name', 'garden')
  await reads('garden is available')
  await keyTo('#description', 'What grows where')
  await keyTo('main button.primary')
  await isAt('/nora/garden')
  await reader.reload()

  // Its first file.
  await keyTo('main a[href*="/new/main"]')
  await isAt('/nora/garden/new/main')
  await keyTo('#path', 'README.md')
  await keyTo('#text', '# Garden')
  await page.keyboard.press('Escape')
  await keyTo('main button.primary')
  await isAt('/nora/garden/blob/main/README.md')
  await page.getByRole('heading', { name: 'Garden', exact: true }).waitFor()

  // An issue, with the keys of the site.
  for (const key of ['g', 'i']) await page.keyboard.press(key)
  await isAt('/nora/garden/issues')
  await page.keyboard.press('c')
  await isAt('/nora/garden/issues/new')
  await page.getByRole('textbox', { name: 'Title' }).waitFor()
  await keyTo('#title', 'Plant beans')
  await keyTo('#body', 'Before **May**')
  await page.keyboard.press('Control+Enter')
  await isAt('/nora/garden/issues/1')
  await reads('nora opened this')
  await reader.reload()
  await reader.back('/nora/garden/issues/new')
  await page.getByRole('textbox', { name: 'Title' }).waitFor()
  await page.goForward()
  await isAt('/nora/garden/issues/1')
  await reads('nora opened this')

  // A star for a repository that the palette finds.
  await page.keyboard.press('Control+k')
  await page.locator('[role="combobox"]:focus').waitFor()
  await page.keyboard.type('ada/eng')
  await page.getByRole('option', { name: 'ada/engine' }).first().waitFor()
  await page.keyboard.press('Enter')
  await isAt('/ada/engine')
  await page.getByRole('heading', { level: 1, name: 'ada/engine' }).waitFor()
  await keyTo('form[action="/ada/engine/star"] button')
  await page.getByRole('button', { name: 'Starred' }).waitFor()
  await reader.reload()
  await page.getByRole('link', { name: '1 star' }).first().waitFor()
  await open('/stars')
  await page.locator('main a[href="/ada/engine"]').first().waitFor()
  assert.equal((await forge.nobody.read('/repos/nora/garden/issues')).length, 1)
  assert.deepEqual(problems, [])
})
