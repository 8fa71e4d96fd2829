import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'

/** Where screenshots go, to be looked at. */
const output = join(import.meta.dirname, '..', 'test-output')

export interface Browser extends AsyncDisposable {
  page: Page
  /** Keeps a picture of the page, at its present width and at that of a telephone. */
  picture(name: string): Promise<void>
}

/** A real browser that talks to nobody but the page's own server. */
export async function openBrowser({ scripts = true } = {}): Promise<Browser> {
  const quiet = [
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    '--disable-quic',
  ]
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', ...quiet],
  })
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: scripts })
  mkdirSync(output, { recursive: true })
  return {
    page,
    async picture(name) {
      const wide = page.viewportSize() ?? { width: 1280, height: 900 }
      await page.screenshot({ path: join(output, `${name}.png`) })
      await page.setViewportSize({ width: 390, height: 844 })
      await page.screenshot({ path: join(output, `${name}-narrow.png`) })
      await page.setViewportSize(wide)
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

/** With the password that people of the forge have. */
export async function signIn(page: Page, { web }: { web: string }, login: string, path: string) {
  await page.goto(`${web}/login?login=${login}&return_to=${encodeURIComponent(path)}`)
  await page.getByLabel('Password').fill(`${login}'s password`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${web}${path}`)
}

const axe = readFileSync(join(import.meta.dirname, '../node_modules/axe-core/axe.min.js'), 'utf8')

/** No serious fault for people who use a reader or a keyboard, in light and in dark; and nothing is wider than a telephone. */
export async function check(page: Page) {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.evaluate(axe)
    const faults = await page.evaluate(`axe.run().then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ')))`)
    assert.deepEqual(faults, [], `${page.url()} in ${colorScheme}`)
  }
  const wide = page.viewportSize() ?? { width: 1280, height: 900 }
  await page.setViewportSize({ width: 390, height: 844 })
  const width = await page.evaluate('document.documentElement.scrollWidth')
  await page.setViewportSize(wide)
  assert.equal(width, 390, `${page.url()} fits a telephone`)
}
