import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type DemoAccess, loadDemo } from '#demo/demo.ts'
import { setSiteAdmin } from '#hosting/people/people.ts'
import { loadAccount } from '#identity/accounts.ts'
import { pageRoutes } from '#pages.ts'
import { sql } from '#platform/database.ts'
import { faultsOf, openBrowser } from './browser.ts'
import { type Crawled, crawl } from './crawler.ts'
import { type Forge, openForge } from './forge.ts'
import { Guest } from './guest.ts'

let forge: Forge
let demo: DemoAccess

before(async () => {
  forge = await openForge()
  const loaded = await loadDemo(forge.belfry)
  assert.ok(loaded)
  demo = loaded
  const cleo = await loadAccount(forge.belfry.db, 'cleo')
  await forge.belfry.db.transaction((db) => setSiteAdmin(db, cleo, true))
})
after(() => forge[Symbol.asyncDispose]())

/** Their own route or a feed answers these, depending on the request. */
const others = ['/:login', '/:owner/:repo/commits/*']
/** The most specific first: words before names before paths. */
const rank = (path: string) => path.replaceAll(/[^/]+/g, (part) => (part === '*' ? 'c' : part.startsWith(':') ? 'b' : 'a'))
const patterns = [...pageRoutes.filter(({ method }) => method === 'GET').map(({ path }) => path), ...others]
  .sort((one, other) => rank(one).localeCompare(rank(other)))
  .map((path) => ({ path, regex: new RegExp(`^${path.replaceAll(/:\w+(?:\([^/]*\))?/g, '[^/]+').replaceAll('*', '.+')}$`) }))
const patternOf = ({ pathname, searchParams }: URL) =>
  `${patterns.find(({ regex }) => regex.test(pathname))?.path ?? pathname} ${searchParams.get('tab') ?? ''}`

/** Every page without a name in its address, and those that lead to the others. */
const starts = [
  ...patterns.map(({ path }) => path).filter((path) => !/[:*]/.test(path)),
  ...['/ada', '/clockwork', '/clockwork/tower', '/ada/engine', '/organizations/clockwork/settings/profile'],
  ...['settings/hooks', 'releases', 'compare'].map((path) => `/clockwork/tower/${path}`),
  '/clockwork/old-plans/import',
  '/clockwork/instrument-template',
]
/** The API reference is long, and its own test inspects it. */
const except = /^\/(api\/v3|assets|docs)(\/|$)/

/** The fullest of the first pages of each pattern. */
async function onePageOfEach(guest: Guest, starts: string[]) {
  const { pages } = await crawl(guest, forge.web, { starts, most: 3, time: 60_000, except, shape: patternOf })
  const fullest = new Map<string, Crawled>()
  for (const page of pages) {
    const pattern = patternOf(new URL(page.path, forge.web))
    if (page.length > (fullest.get(pattern)?.length ?? 0)) fullest.set(pattern, page)
  }
  return fullest
}

const inspected = new Set<string>()

interface Visited {
  guest: Guest
  pages: Map<string, Crawled>
}

async function crawlAs(login: string | null, least: number, from = starts): Promise<Visited> {
  const guest = new Guest(forge)
  if (login) await guest.signIn(login, demo.password)
  const pages = await onePageOfEach(guest, from)
  assert.ok(pages.size >= least, `${pages.size} patterns`)
  return { guest, pages }
}

/** In light and in dark, and on a telephone. */
async function inspect({ guest, pages }: Visited, wanted: (pattern: string) => boolean) {
  await using browser = await openBrowser()
  const { page, problems } = browser
  await page.context().addCookies([...guest.cookies].map(([name, value]) => ({ name, value, url: forge.web })))
  const faults: string[] = []
  for (const [pattern, { path }] of pages) {
    if (!wanted(pattern)) continue
    inspected.add(pattern)
    await page.goto(`${forge.web}${path}`)
    faults.push(...(await faultsOf(page)).map((fault) => `${path} ${fault}`))
  }
  assert.deepEqual({ faults, problems }, { faults: [], problems: [] })
}

const isNew = (pattern: string) => !inspected.has(pattern)

const ofRepository = (pattern: string) => pattern.startsWith('/:owner/')
let cleo: Visited

test('no page of a repository has a serious fault for a site admin who owns an organization', async () => {
  cleo = await crawlAs('cleo', 100)
  await inspect(cleo, ofRepository)
})

test('no other page has a serious fault for a site admin', () => inspect(cleo, (pattern) => !ofRepository(pattern)))

/** Submit buttons in the order of the page, as a browser without scripts has them. */
function buttonsOf(form: string) {
  const buttons = [...form.matchAll(/<button\b[^>]*>/g)].map(([tag]) => tag)
  return buttons.filter((tag) => !/ type="(button|reset)"/.test(tag))
}

/** Enter in a field presses the first submit button of its form. */
function isWrongAtEnter(form: string) {
  const buttons = buttonsOf(form)
  const hasField = /<input\b(?![^>]* type="hidden")/.test(form)
  return hasField && buttons.length > 1 && !/ class="[^"]*\b(primary|main-act)\b/.test(buttons[0] ?? '')
}

test('Enter in a field does the main act of its form, also without scripts', async () => {
  cleo ??= await crawlAs('cleo', 100)
  const wrong = new Set<string>()
  for (const { path } of cleo.pages.values()) {
    const { text } = await cleo.guest.get(path)
    for (const [form = ''] of text.matchAll(/<form\b.*?<\/form>/gs)) {
      if (isWrongAtEnter(form))
        wrong.add(`${path} ${/ action="([^"]*)"/.exec(form)?.[1]} ${buttonsOf(form).slice(0, 3).join('')}`)
    }
  }
  assert.deepEqual([...wrong], [])
})

test('no page has a serious fault for a member', async () => inspect(await crawlAs('ada', 80), isNew))

test('no page has a serious fault for a visitor', async () => {
  const differs = /^(\/|\/explore|\/:login|\/:owner\/:repo|\/:owner\/:repo\/(issues|pull)\/:number) $/
  await inspect(await crawlAs(null, 30), (pattern) => isNew(pattern) || differs.test(pattern))
})

test('no answer to an invitation or a consent has a serious fault', async () => {
  const { client_id } = await forge.belfry.db.load<{ client_id: string }>(sql`
    select client_id from applications where name = 'Market board'`)
  const starts = ['/orgs/clockwork/invitation', `/login/oauth/authorize?client_id=${client_id}&scope=repo`]
  await inspect(await crawlAs('dmitri', 2, starts), isNew)
})

/** They redirect, or send a file or a part of a page. */
const noPages = [
  ...['/settings', '/settings/connections/applications', '/orgs/:org', '/login/once/:key', '/login/resume/:key'],
  ...[
    '/organizations/:org/settings/apps',
    '/organizations/:org/settings/apps/new',
    '/organizations/:org/settings/installations/:id',
  ],
  ...['compare', 'commits', 'releases/latest', 'network/members', 'releases/download/*', 'raw/*', 'import/authors.csv'].map(
    (path) => `/:owner/:repo/${path}`,
  ),
  ...['legacy.tar.gz/*', 'legacy.zip/*', 'archive/*'].map((path) => `/:owner/:repo/${path}`),
  ...['/search/palette', '/new/name', '/settings/export/archive'],
]
/** They ask about a key, a token or a second factor, of which the demo has none. */
const withoutData = ['emails/primary', 'feeds/delete', 'keys/delete', 'tokens/fine-grained/delete'].map(
  (path) => `/settings/${path}`,
)

test('every other page was inspected', () => {
  const seen = new Set([...inspected].map((pattern) => pattern.split(' ')[0]))
  const missed = patterns.map(({ path }) => path).filter((path) => !seen.has(path))
  assert.deepEqual(missed.sort(), [...noPages, ...withoutData, '/login/otp'].sort())
})
