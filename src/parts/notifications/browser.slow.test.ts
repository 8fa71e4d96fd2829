import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { openBrowser, signIn } from '#test/browser.ts'
import { expect } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { openReading } from '#test/reading.ts'

const titles = (page: Page) => page.locator('.thread .title').allTextContents()
const focused = (page: Page) => page.evaluate("document.activeElement.closest('.thread')?.querySelector('.title').textContent")
const [site, release, steam, smoke] = ['Broken link', 'First', 'Steam & 100% gears', 'Smoke']

/** Waits until the list has these titles. */
async function shows(page: Page, ...expected: (string | undefined)[]) {
  const what = `the list has ${expected}`
  await until(what, async () => isDeepStrictEqual(await titles(page), expected))
}

test('the inbox is used by keyboard alone', async () => {
  await using forge = await openReading()
  await using browser = await openBrowser()
  const { page, inspect, picture, problems } = browser
  await signIn(page, forge, 'ben', '/notifications')
  await shows(page, site, release, steam, smoke)
  await picture('inbox')
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())

  await press('j', 'j', 'j', 'k')
  assert.equal(await focused(page), release)
  await press('e')
  await shows(page, site, steam, smoke)
  await page.getByText('1 done.').waitFor()
  assert.equal(await focused(page), steam)
  await page.locator('#unread', { hasText: /^3$/ }).waitFor()
  await inspect('inbox-undo')
  await press('z')
  await shows(page, site, release, steam, smoke)

  await press('j')
  assert.equal(await focused(page), smoke)
  await press('x', 'k', 'x', 'm')
  await page.getByText('2 muted.').waitFor()
  await shows(page, site, release)
  await press('z')
  await shows(page, site, release, steam, smoke)

  await press('k', 'k', 'k', 'k', 'r')
  await shows(page, release, steam, smoke)
  assert.equal(await focused(page), release)
  await press('?')
  await page.getByRole('dialog').waitFor()
  await inspect('inbox-keys')
  await press('e', 'Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  assert.deepEqual(await titles(page), [release, steam, smoke])

  await press('/')
  await page.keyboard.type('is:issue -reason:mention e')
  await press('Enter')
  await page.waitForURL(/q=is/)
  await shows(page, smoke)
  await picture('inbox-filtered')
  await press('j', 'o')
  await page.waitForURL(`${forge.web}/ada/engine/issues/1`)
  await page.getByText('You are receiving notifications because you watch the repository').waitFor()
  await picture('issue-watched')
  await page.goto(`${forge.web}/notifications`)
  await shows(page, release, steam)
  await page.goto(`${forge.web}/notifications?view=done`)
  await page.getByText('No done notifications').waitFor()
  assert.deepEqual(problems, [])
})

test('an update of the inbox that comes late leaves the page alone that was opened from it', async () => {
  await using forge = await openReading()
  await using browser = await openBrowser()
  const { page, problems } = browser
  await signIn(page, forge, 'ben', '/notifications')
  await shows(page, site, release, steam, smoke)
  await page.evaluate('window.sameDocument = true')
  const [late, send] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/notifications', async (route) => {
    late.resolve()
    await send.promise
    await route.continue()
  })
  await expect(201, await forge.ada.post('/repos/ada/engine/issues', { title: 'News' }))
  await late.promise
  await page.getByRole('link', { name: smoke }).focus()
  await page.keyboard.press('o')
  await page.getByLabel('Comment on this issue').fill('Half a sentence')
  const update = page.waitForResponse(`${forge.web}/notifications`)
  send.resolve()
  await update
  // Time in which the page would be loaded again.
  await page.waitForTimeout(300)
  assert.equal(await page.evaluate('window.sameDocument'), true)
  assert.deepEqual(problems, [])
})

test('updates appear without reloading, and the selection is kept', async () => {
  await using forge = await openReading()
  await using browser = await openBrowser()
  const { page, inspect } = browser
  await signIn(page, forge, 'ben', '/notifications?group=repo')
  await shows(page, site, release, steam, smoke)
  await page.getByRole('checkbox', { name: `Select ${steam}` }).check()
  await page.evaluate('window.sameDocument = true')
  forge.clock.advance(1000)
  await expect(201, await forge.ada.post('/repos/ada/engine/issues', { title: 'News <b>from</b> afar' }))
  await shows(page, 'News <b>from</b> afar', release, steam, smoke, site)
  await page.locator('#unread', { hasText: /^5$/ }).waitFor()
  assert.equal(await page.title(), '(5) Notifications · Belfry')
  assert.ok(await page.getByRole('checkbox', { name: `Select ${steam}` }).isChecked())
  assert.equal(await focused(page), steam)
  // A thread that is read elsewhere disappears.
  const [newest] = await forge.ben.read('/notifications')
  await expect(205, await forge.ben.patch(`/notifications/threads/${newest.id}`))
  await shows(page, site, release, steam, smoke)
  assert.equal(await page.evaluate('window.sameDocument'), true)
  await inspect('inbox-by-repository')
  await page.getByRole('checkbox', { name: 'All', exact: true }).check()
  await page.getByRole('button', { name: 'Done', exact: true }).click()
  await page.getByText('No unread notifications').waitFor()
  await inspect('inbox-empty')
  await page.getByRole('button', { name: 'Undo' }).click()
  await shows(page, site, release, steam, smoke)
  assert.ok(await page.locator('#unread').isVisible())
})

test('a thread is read beside the list, snoozed and found again; a filter is saved', async () => {
  await using forge = await openReading()
  await using browser = await openBrowser()
  const { page, inspect, problems } = browser
  await expect(201, await forge.ada.post('/repos/ada/engine/issues/2/comments', { body: 'Look at the **valve**' }))
  await signIn(page, forge, 'ben', '/notifications')
  await page.getByRole('link', { name: steam }).click()
  const pane = page.getByRole('region', { name: 'Reading pane' })
  await pane.getByText('Look at the valve').waitFor()
  await page.waitForURL(/thread=/)
  // It is read now, and stays in the list while it is shown.
  await page.locator('.thread.opened:not(.unread) .title', { hasText: steam }).waitFor()
  await inspect('inbox-reading')
  await page.keyboard.press('s')
  await page.getByRole('button', { name: 'Until tomorrow' }).first().click()
  await page.getByText('1 snoozed.').waitFor()
  await page.keyboard.press('Escape')
  await pane.waitFor({ state: 'hidden' })
  await page.getByRole('link', { name: 'Snoozed' }).click()
  await page.waitForURL(/view=snoozed/)
  await page.getByText('returns').waitFor()
  await inspect('inbox-snoozed')

  await page.goto(`${forge.web}/notifications?q=is:release`)
  await page.getByText('Save as').click()
  await page.getByLabel('Name', { exact: true }).fill('"><script>alert(1)</script> releases')
  await page.getByRole('button', { name: 'Save', exact: true }).first().click()
  await page.getByText('is saved.').waitFor()
  assert.match(
    (await page.getByRole('navigation', { name: 'Saved filters' }).textContent()) ?? '',
    /<script>alert\(1\)<\/script> releases\s*1/,
  )
  await inspect('inbox-saved-filter')
  assert.deepEqual(problems, [])
})

test('the inbox works without scripts', async () => {
  await using forge = await openReading()
  await using browser = await openBrowser({ scripts: false })
  const { page, picture } = browser
  await signIn(page, forge, 'ben', '/notifications')
  await page.getByRole('checkbox', { name: `Select ${smoke}` }).check()
  await page.getByRole('checkbox', { name: `Select ${site}` }).check()
  await page.getByRole('button', { name: 'Done', exact: true }).click()
  await page.getByText('2 done.').waitFor()
  assert.deepEqual(await titles(page), [release, steam])
  await picture('inbox-without-scripts')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone.').waitFor()
  assert.deepEqual(await titles(page), [site, release, steam, smoke])
  await page.getByRole('searchbox', { name: 'Filter' }).fill('steam')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.waitForURL(/q=steam/)
  await page.getByRole('link', { name: steam }).click()
  await page.getByRole('button', { name: 'Unsubscribe' }).click()
  await page.getByText('only when you are mentioned').waitFor()
  assert.equal(await page.locator('#unread').textContent(), '3')
})
