import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { expect, openForge } from '#test/forge.ts'

const long = 'a'.repeat(150)
const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(1)> \u202eabc ${long}`

test('somebody finds their way from the first page, with the keyboard alone', async () => {
  await using forge = await openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { description: hostile, auto_init: true })
  await expect(200, await ada.put('/repos/ada/engine/topics', { names: ['brass', 'x'.repeat(50)] }))
  await expect(201, await ada.post('/repos/ada/engine/labels', { name: long.slice(0, 50), color: 'aabbcc' }))
  for (let number = 1; number <= 31; number++)
    await expect(
      201,
      await ada.post('/repos/ada/engine/issues', { title: number === 31 ? hostile : `Issue ${number}`, body: hostile }),
    )
  await expect(200, await ada.patch('/repos/ada/engine/issues/31', { labels: [long.slice(0, 50)], assignees: ['ada'] }))
  await using browser = await openBrowser()
  const { page, problems, inspect, picture } = browser
  await page.goto(forge.web)
  await picture('home-signed-out')
  await page.goto(`${forge.web}/explore`)
  await picture('explore')
  await signIn(page, forge, 'ben', '/')
  await page.getByRole('heading', { name: 'Welcome, ben' }).waitFor()
  await page.goto(`${forge.web}/explore?tab=people`)
  await page.getByRole('button', { name: 'Follow ada' }).click()
  await page.getByRole('button', { name: 'Unfollow ada' }).waitFor()
  await expect(200, await ben.put('/repos/ada/engine/subscription', { subscribed: true }))

  await page.goto(forge.web)
  await picture('home')
  const lines = page.locator('.activity-list > li')
  const before = await lines.count()
  await page.getByRole('link', { name: 'Load more' }).click()
  await page.getByText('ada created a repository').waitFor()
  assert.ok((await lines.count()) > before)

  await expect(204, await ada.put('/user/starred/ada/engine'))
  await page.getByRole('button', { name: 'Show 1 new line' }).click()
  await page.getByText('ada starred ada/engine').waitFor()

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Go to or do' }).pressSequentially('ada/engine#3')
  await page.getByRole('option', { name: 'ada/engine#3 Issue 3' }).waitFor()
  await inspect('palette')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${forge.web}/ada/engine/issues/3`)
  await page.getByRole('heading', { level: 1, name: 'Issue 3' }).waitFor()

  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await page.waitForURL(`${forge.web}/ada/engine/issues`)
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.waitForURL(`${forge.web}/`)
  await page.locator('.home').waitFor()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keys' })
  await help.getByText('Command palette').waitFor()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').pressSequentially('>mark all')
  await page.getByRole('option', { name: 'Mark all notifications as read' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText(/^Everything is .*marked as read/).waitFor()

  for (const [name, path] of [
    ['search', '/search?q=issue&type=issues'],
    ['watching', '/watching'],
  ] as const) {
    await page.goto(`${forge.web}${path}`)
    await picture(name)
  }
  assert.deepEqual(problems, [])
})

test('without scripts, the first page has links for everything', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  await ada.owns('notes')
  await using browser = await openBrowser({ scripts: false })
  const { page } = browser
  await signIn(page, forge, 'ada', '/')
  await page.getByLabel('Find one of your repositories').fill('notes')
  await page.keyboard.press('Enter')
  await page.waitForURL(/find=notes/)
  assert.equal(await page.locator('.repository-finder > li').count(), 1)
  await page.locator('.feed-menu > summary').click()
  await page.getByLabel('Stars and forks').check()
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.waitForURL(/kind=stars/)
  await page.getByText('Nothing matches the filter').waitFor()
  await page.getByLabel('Do not filter: Stars and forks').click()
  await page.waitForURL(`${forge.web}/`)
})
