import { join } from 'node:path'
import { openBrowser } from './browser.ts'
import { until } from './machine.ts'
import { Host } from './process.ts'

/** Makes the README's picture from the demo: `node test/screenshot.ts`. Look at the result before you commit it. */
const picture = join(import.meta.dirname, '../docs/inbox.png')
const unread = 8

await using host = await Host.open()
const belfry = await host.start({ options: ['--demo'] })
const [, password = ''] = /^ {2}Password +(\S+) {2}\(/m.exec(belfry.stdout) ?? []
const { page } = await openBrowser()

await page.goto(`${belfry.web}/login?login=ada&return_to=%2Fnotifications`)
await page.getByLabel('Password').fill(password)
await page.getByRole('button', { name: 'Sign in' }).click()
await page.waitForURL(`${belfry.web}/notifications`)
await until('all notifications have arrived', async () => {
  await page.goto(`${belfry.web}/notifications`)
  return (await page.getByText('unread', { exact: true }).count()) >= unread
})
// Opening a subject marks its thread as read.
for (const path of ['/clockwork/tower/issues/2', '/ada/engine/issues/2']) await page.goto(`${belfry.web}${path}`)
await page.goto(`${belfry.web}/notifications?view=all&group=repo`)
// Ends below a whole group.
await page.setViewportSize({ width: 1280, height: 857 })
await page.screenshot({ path: picture })
// Outside of a test run, no hook closes it.
await page.context().browser()?.close()
