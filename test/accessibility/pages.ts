import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DemoAccess, loadDemo } from '#demo/demo.ts'
import { setSiteAdmin } from '#hosting/people/people.ts'
import { RequestMeter } from '#http/request-meter.ts'
import { loadAccount } from '#identity/accounts.ts'
import { pageRoutes } from '#pages.ts'
import { storeSample } from '#parts/administration/samples.ts'
import { sql } from '#platform/database.ts'
import { atEnd } from '../at-end.ts'
import { faultsOf, openBrowser } from '../browser.ts'
import { type Crawled, crawl } from '../crawler.ts'
import { type Forge, openForge } from '../forge.ts'
import { Guest } from '../guest.ts'

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

interface Visitor {
  guest: Guest
  /** The fullest of the first pages of each pattern. */
  pages: Map<string, Crawled>
}

async function send(forge: Forge, demo: DemoAccess, login: string | null, most: number, from = starts): Promise<Visitor> {
  const guest = new Guest(forge)
  if (login) assert.equal((await guest.signIn(login, demo.password)).status, 303)
  const crawled = await crawl(guest, forge.web, { starts: from, most, except, shape: patternOf })
  const pages = new Map<string, Crawled>()
  for (const page of crawled.pages) {
    const pattern = patternOf(new URL(page.path, forge.web))
    if (page.text.length > (pages.get(pattern)?.text.length ?? 0)) pages.set(pattern, page)
  }
  return { guest, pages }
}

/** For all files of a process: the demo takes 15 s of processor time, and nothing here changes it. */
let opened: ReturnType<typeof open> | undefined
atEnd(async () => (await opened)?.forge[Symbol.asyncDispose]())

async function open() {
  const forge = await openForge()
  const demo = await loadDemo(forge.belfry)
  assert.ok(demo)
  const { db } = forge.belfry
  await storeSample(db, 'one', new RequestMeter())
  const { client_id } = await db.load<{ client_id: string }>(sql`
    select client_id from applications where name = 'Market board'`)
  const asked = ['/orgs/clockwork/invitation', `/login/oauth/authorize?client_id=${client_id}&scope=repo`]
  const account = await loadAccount(db, 'cleo')
  await db.transaction((transaction) => setSiteAdmin(transaction, account, true))
  const cleo = await send(forge, demo, 'cleo', 3)
  const ada = await send(forge, demo, 'ada', 1)
  const nobody = await send(forge, demo, null, 1)
  const dmitri = await send(forge, demo, 'dmitri', 1, asked)
  return { forge, cleo, nobody, visitors: [cleo, ada, nobody, dmitri] }
}

/** The demo, which a site admin who owns an organization, a member, a visitor, and someone who is invited have looked through. */
export const openSite = () => {
  opened ??= open()
  return opened
}

/** What visitors see, and people who have signed in see otherwise. */
const differs = /^(\/|\/explore|\/:login|\/:owner\/:repo|\/:owner\/:repo\/(issues|pull)\/:number) $/

/** The first that matches has a page. */
const areas = {
  'issues and pull requests': /^\/:owner\/:repo\/(issues|pull|labels|milestone)/,
  'the settings of repositories': /^\/:owner\/:repo\/settings/,
  repositories: /^\/:owner\//,
  'organizations and applications': /^\/(organizations|orgs|apps|:login)/,
  'the settings of people': /^\/settings/,
  'the rest of the site': /^/,
}
type Area = keyof typeof areas
const areaOf = (pattern: string) => Object.entries(areas).find(([, regex]) => regex.test(pattern))?.[0]

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

/** Every page, as the first of the visitors sees it, and some as a visitor without an account does. */
export function testPages(area: Area) {
  test(`no page of ${area} has a serious fault, in light and dark and on a telephone`, async () => {
    const { forge, visitors, nobody } = await openSite()
    const inspected = new Set<string>()
    const faults: string[] = []
    await using browser = await openBrowser()
    const { page, problems } = browser
    for (const { guest, pages } of visitors) {
      const own = [...pages].filter(([pattern]) => areaOf(pattern) === area)
      const wanted = own.filter(([pattern]) => !inspected.has(pattern) || (pages === nobody.pages && differs.test(pattern)))
      await page.context().clearCookies()
      await page.context().addCookies([...guest.cookies].map(([name, value]) => ({ name, value, url: forge.web })))
      for (const [pattern, { path }] of wanted) {
        inspected.add(pattern)
        await page.goto(`${forge.web}${path}`)
        faults.push(...(await faultsOf(page)).map((fault) => `${path} ${fault}`))
      }
    }
    assert.deepEqual({ faults, problems }, { faults: [], problems: [] })
    const seen = new Set([...inspected].map((pattern) => pattern.split(' ')[0]))
    const missed = patterns.map(({ path }) => path).filter((path) => areaOf(path) === area && !seen.has(path))
    const expected = [...noPages, ...withoutData, '/login/otp'].filter((path) => areaOf(path) === area)
    assert.deepEqual(missed.sort(), expected.sort(), 'every other page was inspected')
  })
}
