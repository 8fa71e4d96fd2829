import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { needs } from '#test/needs.ts'
import { atEnd } from './at-end.ts'

if (!process.env.CHROMIUM) needs({ '/usr/bin/chromium': 'chromium' })

/** Where screenshots go, to be looked at. */
const output = join(import.meta.dirname, '..', 'test-output')

export interface Browser extends AsyncDisposable {
  page: Page
  /** What its scripts and the browser complain of: forms that the server refuses too. */
  problems: string[]
  /** Keeps a picture of the page, at its present width and at that of a telephone; with `PICTURES=0` it does not. */
  picture(name: string): Promise<void>
  /** Checks the page, and keeps a picture of it. */
  inspect(name: string): Promise<void>
}

/** One for all tests of this process, or of the whole run if the run has started it: to start one takes a second. */
let running: ReturnType<typeof chromium.launch> | undefined
atEnd(async () => (await running)?.close())

/** Starts a browser for all processes of a run; returns its address. */
export const serveBrowser = () => chromium.launchServer(launching)

const launching = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    '--disable-quic',
  ],
}

const start = () => {
  const { BELFRY_TEST_BROWSER: address } = process.env
  return address ? chromium.connect(address) : chromium.launch(launching)
}

/** A real browser that talks to nobody but the page's own server, and knows nothing of what it did in other tests. */
export async function openBrowser({ scripts = true } = {}): Promise<Browser> {
  running ??= start()
  const context = await (await running).newContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: scripts })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())))
  page.on('pageerror', (error) => void problems.push(error.message))
  mkdirSync(output, { recursive: true })
  const picture = async (name: string) => {
    if (process.env.PICTURES === '0') return
    const wide = page.viewportSize() ?? { width: 1280, height: 900 }
    await page.screenshot({ path: join(output, `${name}.png`) })
    await page.setViewportSize({ width: 390, height: 844 })
    await page.screenshot({ path: join(output, `${name}-narrow.png`) })
    await page.setViewportSize(wide)
  }
  return {
    page,
    problems,
    picture,
    inspect: (name) => check(page).then(() => picture(name)),
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** With the password that people of the forge have. */
export async function signIn(page: Page, { web }: { web: string }, login: string, path: string) {
  await page.goto(`${web}/login?login=${login}&return_to=${encodeURIComponent(path)}`)
  await page.getByLabel('Password').fill(`${login}'s password`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${web}${path}`)
}

/** Goes on with the keyboard until it is at something, a hundred steps at most. */
export async function tabTo(page: Page, selector: string) {
  for (let step = 0; step < 100; step++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
  }
  assert.fail(`the keyboard does not reach ${selector}`)
}

const axe = readFileSync(join(import.meta.dirname, '../node_modules/axe-core/axe.min.js'), 'utf8')

/** Those that run by default and whose faults are serious or critical. */
const seriousRules = `axe._audit.rules
  .filter(({ enabled, tags }) => enabled && !tags.includes('experimental') && !tags.includes('deprecated'))
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id }) => id)`

/** No serious fault for people who use a reader or a keyboard, in light and in dark; and nothing is wider than a telephone. */
export async function check(page: Page) {
  // Turbo is still showing the page, or has left it to the browser, because the page has other styles.
  await page.waitForLoadState()
  await page.locator('html:not([aria-busy])').waitFor({ state: 'attached' })
  assert.deepEqual(await faultsOf(page), [], page.url())
}

/** What `check` finds. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const faults: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    // Colours alone differ, so only the second scheme runs all rules. The impact of a rule is that of what it finds.
    const rules = colorScheme === 'dark' ? "['color-contrast']" : seriousRules
    const found: string[] = await page.evaluate(`axe.run({ resultTypes: ['violations'], preload: false, runOnly: ${rules} })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ')))`)
    faults.push(...found.map((fault) => `in ${colorScheme}: ${fault}`))
  }
  const wide = page.viewportSize() ?? { width: 1280, height: 900 }
  await page.setViewportSize({ width: 390, height: 844 })
  const width = await page.evaluate('document.documentElement.scrollWidth')
  await page.setViewportSize(wide)
  if (width !== 390) faults.push(`is ${width} pixels wide on a telephone`)
  return faults
}
