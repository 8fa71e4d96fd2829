import { mkdirSync } from 'node:fs'
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
export async function openBrowser(): Promise<Browser> {
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
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
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
