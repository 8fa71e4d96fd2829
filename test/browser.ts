import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { loadAccount } from '#identity/accounts.ts'
import { openSession } from '#identity/sessions.ts'
import { sessionCookie } from '#web/cookies.ts'
import { atEnd } from './at-end.ts'
import type { Forge } from './forge.ts'
import { needs } from './needs.ts'

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

/** One for all tests of this process: to start one takes a second. */
let running: ReturnType<typeof chromium.launch> | undefined
atEnd(async () => (await running)?.close())

const start = () =>
  chromium.launch({
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
  })

/** Those that no test uses at the moment, by whether they run scripts. A new one loads and compiles our scripts again: 0.8 s of processor time. */
const idle = new Map<boolean, BrowserContext[]>()

/** A real browser that talks to nobody but the page's own server, and knows nothing of what it did in other tests. */
export async function openBrowser({ scripts = true } = {}): Promise<Browser> {
  running ??= start()
  const context = idle.get(scripts)?.pop() ?? (await (await running).newContext({ viewport: wide, javaScriptEnabled: scripts }))
  const page = await context.newPage()
  // As long as `until` waits. The limit of the test itself would not say which step waited.
  page.setDefaultTimeout(60_000)
  const problems: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())))
  page.on('pageerror', (error) => void problems.push(error.message))
  mkdirSync(output, { recursive: true })
  const picture = async (name: string) => {
    if (process.env.PICTURES === '0') return
    await page.screenshot({ path: join(output, `${name}.png`) })
    await onTelephone(page, () => page.screenshot({ path: join(output, `${name}-narrow.png`) }))
  }
  return {
    page,
    problems,
    picture,
    inspect: (name) => check(page).then(() => picture(name)),
    async [Symbol.asyncDispose]() {
      const devtools = await context.newCDPSession(page)
      await devtools.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'local_storage' })
      await Promise.all([context.clearCookies(), context.clearPermissions(), ...context.pages().map((page) => page.close())])
      idle.set(scripts, [...(idle.get(scripts) ?? []), context])
    },
  }
}

const wide = { width: 1280, height: 900 }

async function onTelephone<Result>(page: Page, look: () => Promise<Result>) {
  const before = page.viewportSize() ?? wide
  await page.setViewportSize({ width: 390, height: 844 })
  const result = await look()
  await page.setViewportSize(before)
  return result
}

/** Without the form, which takes a second of processor time; the tests of accounts sign in with it. */
export async function signIn(page: Page, { belfry, web }: Pick<Forge, 'belfry' | 'web'>, login: string, path: string) {
  const user = await loadAccount(belfry.db, login)
  const origin = { address: '127.0.0.1', user_agent: 'a browser' }
  const value = await belfry.db.transaction((db) => openSession(db, user, origin, false))
  await page.context().addCookies([{ name: sessionCookie, value, url: web, httpOnly: true, sameSite: 'Lax' }])
  await page.goto(`${web}${path}`)
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

/** Those that run by default and whose faults are serious or critical. The impact of a rule is that of what it finds. */
const seriousRules = `axe._audit.rules
  .filter(({ enabled, tags }) => enabled && !tags.includes('experimental') && !tags.includes('deprecated'))
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id }) => id)`
/** They look for what is behind each text, which takes as long as five times all other rules. */
const colourRules = `['color-contrast', 'link-in-text-block']`

/** Waits until the page is shown: Turbo changes the address before, or leaves the page to the browser, because it has other styles. */
export async function settled(page: Page) {
  await page.waitForLoadState()
  await page.locator('html:not([aria-busy])').waitFor({ state: 'attached' })
}

/** No serious fault for people who use a reader or a keyboard, in light and in dark; and nothing is wider than a telephone. */
export async function check(page: Page) {
  await settled(page)
  assert.deepEqual(await faultsOf(page), [], page.url())
}

/** What `check` finds. */
export async function faultsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe)
  const faults = await run(page, `${seriousRules}.filter((id) => !${colourRules}.includes(id))`)
  const pairs = await page.evaluate<string[]>(colourPairs)
  if (pairs.some((pair) => !readable.has(pair))) {
    const unreadable: string[] = []
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      unreadable.push(...(await run(page, colourRules)).map((fault) => `in ${colorScheme}: ${fault}`))
    }
    if (!unreadable.length) for (const pair of pairs) readable.add(pair)
    faults.push(...unreadable)
  }
  const width = await onTelephone(page, () => page.evaluate('document.documentElement.scrollWidth'))
  if (width !== 390) faults.push(`is ${width} pixels wide on a telephone`)
  return faults
}

const run = (page: Page, rules: string) =>
  page.evaluate<string[]>(`axe.run({ resultTypes: ['violations'], preload: false, runOnly: ${rules} })
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ')))`)

/** Pairs of colours in which axe found no fault: pages share their styles, so each pair is looked at on one page. */
const readable = new Set<string>()

/**
 * The colours of each visible text in both schemes, with what is behind it: backgrounds to the first that is opaque, and elements that may lie
 * over others. Of links also what tells them from the text around.
 */
const colourPairs = `(() => {
  const root = document.documentElement
  const texts = [...document.body.querySelectorAll('*')].filter((element) => element.checkVisibility() &&
    (element.matches('input, select, textarea') || [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim())))
  const behind = (element, known) => {
    if (!element) return ''
    if (known.has(element)) return known.get(element)
    const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(element)
    const own = [
      backgroundColor === 'rgba(0, 0, 0, 0)' ? '' : backgroundColor,
      backgroundImage === 'none' ? '' : backgroundImage,
      opacity === '1' ? '' : opacity,
      position === 'static' || position === 'relative' ? '' : position + element.className,
    ].join('')
    const all = backgroundColor.startsWith('rgb(') ? own : own + behind(element.parentElement, known)
    known.set(element, all)
    return all
  }
  const inScheme = (scheme) => {
    root.style.colorScheme = scheme
    const known = new Map()
    return texts.map((element) => {
      const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(element)
      const link = element.localName === 'a' ? textDecorationLine + getComputedStyle(element.parentElement).color : ''
      return [color, behind(element, known), parseFloat(fontSize) >= (fontWeight >= 700 ? 18.66 : 24), link].join(' ')
    })
  }
  const [light, dark] = ['light', 'dark'].map(inScheme)
  root.style.removeProperty('color-scheme')
  return [...new Set(light.map((colours, index) => colours + ' / ' + dark[index]))]
})()`
