import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from './browser.ts'
import { Host } from './process.ts'

/** Makes the pictures in docs/screens from the demo: `node test/screenshot.ts`. Look at the results before you commit them. */
const folder = join(import.meta.dirname, '../docs/screens')

const wide = { width: 1280, height: 860 }
const narrow = { width: 390, height: 844 }

const pictures: [name: string, path: string, size: typeof wide, scheme: 'light' | 'dark'][] = [
  ['home', '/', wide, 'light'],
  ['inbox', '/notifications', wide, 'light'],
  ['repository', '/clockwork/tower', wide, 'light'],
  ['profile', '/ada', wide, 'light'],
  ['issue', '/clockwork/tower/issues/28', wide, 'dark'],
  ['pull-request', '/clockwork/escapement/pull/4', wide, 'light'],
  ['files-changed', '/clockwork/escapement/pull/4/files', wide, 'dark'],
  ['webhook', '/clockwork/tower/settings/hooks', wide, 'light'],
  ['activity', '/clockwork/tower/activity?span=year', wide, 'dark'],
  ['home-telephone', '/', narrow, 'dark'],
]

mkdirSync(folder, { recursive: true })
await using host = await Host.open()
const belfry = await host.start({ options: ['--demo'] })
const links = [...belfry.stdout.matchAll(/\S+\/login\/once\/\w+/g)].map(([link]) => link)
const { page } = await openBrowser()
// Cleo owns the organization, so she sees its webhooks. Ada has the fullest inbox.
for (const [link, own] of [
  [links[2], (name: string) => name === 'webhook'],
  [links[0], (name: string) => name !== 'webhook'],
] as const) {
  await page.context().clearCookies()
  await page.goto(link ?? '')
  for (const [name, path, size, colorScheme] of pictures.filter(([name]) => own(name))) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme })
    await page.goto(`${belfry.web}${path}`)
    if (name === 'webhook') await page.locator('main .rows a.title').first().click()
    await page.waitForTimeout(1000)
    await page.screenshot({ path: join(folder, `${name}.png`) })
  }
}
// Outside of a test run, no hook closes it.
await page.context().browser()?.close()
