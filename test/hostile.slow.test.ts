import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLabel } from '#hosting/labels/update.ts'
import { createMilestone } from '#hosting/milestones/update.ts'
import { updateProfile } from '#hosting/people/people.ts'
import { createRelease } from '#hosting/releases/releases.ts'
import { updateRepository } from '#hosting/repositories/update.ts'
import { loadAccount } from '#identity/accounts.ts'
import { comment, openIssue, openPull, reviewPull } from '#seed/acting.ts'
import { Stage, StoryClock } from '#seed/stage.ts'
import { openBrowser, signIn } from './browser.ts'
import { fillDeliveries } from './deliveries.ts'
import { errorsOf, expect, type Forge, openForge, type Person } from './forge.ts'
import { signedIn } from './guest.ts'
import { hostileTexts } from './hostile-texts.ts'

const repo = 'ada/engine'
let forge: Forge
let ada: Person
let hook: { id: number }
let deliveries: number[]

before(async () => {
  forge = await openForge()
  ada = await forge.person('ada')
  await forge.person('ben')
  await forge.organization('acme', ada)
  await fill()
})
after(() => forge[Symbol.asyncDispose]())

const text = (index: number) => hostileTexts[index % hostileTexts.length] ?? ''
/** Titles are one line, and not empty. */
const title = (index: number) => `${index} ${text(index).replaceAll(/\s+/g, ' ')}`.slice(0, 250)
const fileName = (index: number) => `${index} ${text(index)}`.replaceAll(/[/\0\n]/g, '∕').slice(0, 60)
/** What git accepts in a branch. */
const branchName = (index: number) =>
  `b${index}-${text(index).replaceAll(/[\p{Cc}\p{Zs} ~^:?*[\\/]|\.\.|@\{|\.lock|\.$/gu, '-')}`.slice(0, 100)

/** Spreads the texts over every field that users fill in. */
async function fill() {
  const { belfry } = forge
  await using stage = new Stage(belfry, new StoryClock(forge.clock.now()))
  for (const login of ['ada', 'ben']) stage.accounts.set(login, await loadAccount(belfry.db, login))
  await stage.createRepository('ada', repo, { description: text(0), homepage: text(54) })
  const files = Object.fromEntries(hostileTexts.map((_, index) => [fileName(index), text(index)]))
  await stage.push('ada', repo, [
    { message: title(3), files: { ...files, 'README.md': hostileTexts.join('\n\n'), 'notes.txt': hostileTexts.join('\n') } },
    ...hostileTexts.map((message, index) => ({ message: `${index} ${message}`, files: { 'count.txt': `${index}\n` } })),
  ])
  for (const index of [0, 5, 44, 74, 82]) {
    const commits = [{ message: title(index), files: { [`${index}.txt`]: `${text(index)}\n` } }]
    await openPull(stage, 'ada', repo, `p${'abcdefghi'[index % 9]}`, {
      title: title(index),
      body: text(index + 1),
      branch: branchName(index),
      commits,
    })
  }
  await reviewPull(stage, 'ben', repo, 'pa', 'COMMENT', text(1), [{ path: '0.txt', line: 1, body: text(2) }])
  await stage.transaction(async (db) => {
    const { actor, repo: engine, viewer } = await stage.as('ada', repo)
    await updateRepository(db, viewer, actor, engine, { name: 'engine', description: text(8) })
    const profile = {
      name: text(0).slice(0, 100),
      bio: text(44).slice(0, 160),
      company: text(3),
      location: text(46),
      blog: text(54),
    }
    await updateProfile(db, actor, profile)
    for (const index of hostileTexts.keys())
      await createLabel(db, engine, actor, { name: title(index).slice(0, 50), description: text(index).slice(0, 100) })
    for (const index of [0, 3, 44, 54, 74])
      await createMilestone(db, engine, actor, { title: title(index), description: text(index) })
  })
  for (const [index, body] of hostileTexts.entries()) {
    await openIssue(stage, index % 2 ? 'ada' : 'ben', repo, `i${'abcdefghijklmnopqrstuvwxyz'[index % 26]}`, {
      title: title(index),
      body,
      labels: [title(index).slice(0, 50)],
    })
  }
  stage.numbers.set('first', 6)
  for (const body of hostileTexts) await comment(stage, 'ben', repo, 'first', body)
  const { actor, repo: engine } = await stage.as('ada', repo)
  for (const index of [0, 3, 44, 60, 74])
    await createRelease(belfry.db, belfry.storage, engine, actor, {
      tag_name: `v${index}`,
      name: title(index),
      body: text(index),
    })
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core <b>x</b>', description: text(3) }))
  await expect(200, await ada.patch('/orgs/acme', { name: text(0), description: text(6), location: text(44) }))
  await expect(200, await ada.put(`/repos/${repo}/topics`, { names: ['engine'] }))
  hook = await expect(201, await ada.post(`/repos/${repo}/hooks`, { config: { url: 'https://hooks.example/x' }, active: false }))
  const answer = { response_headers: { 'content-type': text(0), 'x-note': text(44) }, response_body: hostileTexts.join('\n') }
  deliveries = await fillDeliveries(forge, hook, [200, 500], { ...answer, body: JSON.stringify({ ref: hostileTexts }) })
}

const pages = () => [
  ...[
    '/',
    '/ada',
    '/ada?tab=repositories',
    '/ada?tab=stars',
    '/acme',
    '/orgs/acme/people',
    '/orgs/acme/teams',
    '/explore',
    '/notifications',
    '/issues',
    '/pulls',
  ],
  ...['/settings/profile', `/search?q=${encodeURIComponent(text(0))}`, `/search?q=script&type=issues`],
  ...[
    '',
    '/issues',
    '/issues?q=script',
    '/issues/6',
    '/pulls',
    '/pull/1',
    '/pull/1/files',
    '/pull/1/commits',
    '/commits',
    '/commits/main',
    '/branches',
  ].map((path) => `/${repo}${path}`),
  ...[
    '/labels',
    '/milestones',
    '/milestone/1',
    '/releases',
    '/tags',
    '/activity',
    '/stargazers',
    '/settings',
    '/settings/hooks',
  ].map((path) => `/${repo}${path}`),
  ...['/blob/main/README.md', '/blob/main/notes.txt', '/blame/main/notes.txt', '/commits/main/count.txt'].map(
    (path) => `/${repo}${path}`,
  ),
  `/${repo}/compare/main...${encodeURIComponent(branchName(44))}`,
  `/${repo}/tree/${encodeURIComponent(branchName(0))}`,
  `/${repo}/blob/main/${encodeURIComponent(fileName(44))}`,
  `/${repo}/settings/hooks/${hook.id}`,
  `/${repo}/settings/hooks/${hook.id}/deliveries/${deliveries[0]}`,
]

/** What is in a page only if a text became a part of it. */
const harm =
  /<script(?! src="\/assets\/)|<[a-z][^<>"']*(?:"[^"]*"[^<>"']*|'[^']*'[^<>"']*)*\son[a-z]+\s*=|(?:href|src|action)="\s*(?:javascript|vbscript|data:text)|<(?:iframe|object|embed|base|marquee)\b|\sstyle="/i

test('every page shows hostile texts as text', async () => {
  assert.equal(hostileTexts.length, 100)
  assert.ok(hostileTexts.filter((each) => harm.test(each)).length > 30, 'harm is recognized')
  const visitor = await signedIn(forge, 'ada')
  const faults: string[] = []
  for (const path of pages()) {
    const { status, text: body } = await visitor.get(path)
    const found = harm.exec(body)
    if (found) faults.push(`${path}: ${body.slice(found.index - 60, found.index + 200)}`)
    if (status !== 200) faults.push(`${path}: ${status}`)
  }
  assert.deepEqual(faults, [])
  assert.deepEqual(errorsOf(forge), [])
})

test('in a browser nothing of them runs, nothing is asked of others, and every page fits a telephone', async () => {
  await using browser = await openBrowser()
  const { page, problems } = browser
  const dialogs: string[] = []
  const requests: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(`${page.url()}: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => void (request.url().startsWith(forge.web) || requests.push(request.url())))
  await page.setViewportSize({ width: 390, height: 844 })
  await signIn(page, forge, 'ada', '/')
  const wide: string[] = []
  for (const path of pages()) {
    await page.goto(`${forge.web}${path}`)
    const width = await page.evaluate('document.documentElement.scrollWidth')
    if (width !== 390) wide.push(`${path}: ${width}`)
  }
  assert.deepEqual({ dialogs, requests, wide, problems }, { dialogs: [], requests: [], wide: [], problems: [] })
})
