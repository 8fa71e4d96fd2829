import { join } from 'node:path'
import { openBrowser } from './browser.ts'
import { Host } from './process.ts'

/** Makes the README's picture from the demo: `node test/screenshot.ts`. Look at the result before you commit it. */
const picture = join(import.meta.dirname, '../docs/inbox.png')

await using host = await Host.open()
const belfry = await host.start({ options: ['--demo'] })
const [link = ''] = /\S+\/login\/once\/\w+/.exec(belfry.stdout) ?? []
const { page } = await openBrowser()

await page.goto(link)
// Opening a subject marks its thread as read.
for (const path of ['/clockwork/tower/issues/1', '/ada/engine/issues/1']) await page.goto(`${belfry.web}${path}`)
await page.goto(`${belfry.web}/notifications?view=all&group=repo`)
await page.setViewportSize({ width: 1280, height: 857 })
await page.screenshot({ path: picture })
// Outside of a test run, no hook closes it.
await page.context().browser()?.close()
