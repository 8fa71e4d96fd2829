import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { openWithEngine } from '#test/conversations.ts'
import { injecting } from '#test/forge.ts'
import { seeding } from '#test/seeding.ts'

const long = `${'Unbreakable'.repeat(20)} <script>alert(1)</script> مرحبا`

/** Ada's engine with a merge and an open branch. */
const seed = seeding('ada', async (work) => {
  await work.commit('Begin', { 'mill.txt': 'wheel\n' })
  await work.git('checkout', '--quiet', '-b', 'topic')
  await work.commit(`${long}\n\nWith a reason.`, { 'mill.txt': 'wheel\naxle\n' })
  await work.git('checkout', '--quiet', 'main')
  await work.commit('Describe', { 'readme.txt': 'Read me\n' })
  await work.git('merge', '--quiet', '--no-ff', '-m', 'Merge topic', 'topic')
  const main = await work.head()
  await work.git('checkout', '--quiet', '-b', 'next')
  return { branches: { main, next: await work.commit('Go on', { 'next.txt': 'More\n' }) } }
})

const inject = injecting(async () => {
  const forge = await openWithEngine()
  await seed(forge, forge.ada)
  return forge
})

test('a maintainer reads the history, comments on a commit, compares, releases and looks at the activity', inject(async ({
  forge,
}) => {
  await using browser = await openBrowser()
  const { page, inspect, picture } = browser
  await signIn(page, forge, 'ada', '/ada/engine/commits/main')
  await page.getByText('Merge topic').waitFor()
  await picture('history-commits')
  await page.getByRole('button', { name: 'Star' }).click()
  await page.getByRole('button', { name: 'Starred' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/ada/engine/commits/main')
  await page.locator('summary', { hasText: 'Watching' }).click()
  await page.getByRole('link', { name: 'Custom' }).click()
  await page.waitForURL('**/subscription')
  await page.getByRole('radio', { name: 'Custom' }).check()
  await page.getByRole('checkbox', { name: 'Releases' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('You are notified of the kinds that you chose.').waitFor()
  await inspect('history-watching')
  await page.goto(`${forge.web}/ada/engine/commits/main`)
  await page.getByRole('link', { name: 'Unbreakable' }).click()
  await page.waitForURL('**/commit/*')
  await page.getByLabel('Add a comment').fill('Well **done**')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await page.locator('.post strong', { hasText: 'done' }).waitFor()
  // A button below the pointer has another colour.
  await page.mouse.move(0, 0)
  await inspect('history-commit')
  await page.goto(`${forge.web}/ada/engine/compare`)
  await page.locator('summary', { hasText: 'compare: main' }).click()
  await page.getByRole('link', { name: 'next', exact: true }).click()
  await page.waitForURL('**/compare/main...next')
  await page.getByText('1 commit', { exact: true }).waitFor()
  await picture('history-compare')
  await page.goto(`${forge.web}/ada/engine/releases/new`)
  await page.getByLabel('Tag', { exact: true }).fill('v1')
  await page.getByRole('button', { name: 'Generate notes' }).click()
  await page.waitForFunction(() => document.querySelector('textarea')?.value.includes('Full Changelog'))
  await inspect('history-release-form')
  await page.getByRole('button', { name: 'Publish release' }).click()
  await page.getByText('The release is published.').waitFor()
  await page.getByRole('link', { name: 'Activity' }).click()
  await page.getByRole('heading', { name: 'Activity' }).waitFor()
  await picture('history-activity')
  assert.deepEqual(browser.problems, [])
}))
