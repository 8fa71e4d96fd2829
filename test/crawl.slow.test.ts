import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type DemoAccess, loadDemo } from '#demo/demo.ts'
import { setSiteAdmin } from '#hosting/people/people.ts'
import { loadAccount } from '#identity/accounts.ts'
import { crawl } from './crawler.ts'
import { type Forge, linesOf, openForge } from './forge.ts'
import { Guest } from './guest.ts'

let forge: Forge
let demo: DemoAccess

before(async () => {
  forge = await openForge()
  const loaded = await loadDemo(forge.belfry)
  assert.ok(loaded)
  demo = loaded
})
after(() => forge[Symbol.asyncDispose]())

const starts = ['/', '/explore', '/ada', '/clockwork', '/clockwork/tower', '/ada/engine', '/clockwork/ringer', '/docs', '/api/v3']

async function signedInBy(login: string) {
  const guest = new Guest(forge)
  assert.equal((await guest.get(demo.links[login] ?? '')).status, 303)
  return guest
}

test('the demo fills calendars, inboxes, lists and webhooks, once', async () => {
  const { tokens, password } = demo
  const [ada, cleo] = [tokens.ada, tokens.cleo].map((token) => forge.nobody.with({ authorization: `token ${token}` }))
  assert.ok(ada && cleo)
  assert.equal((await ada.read('/user')).name, 'Ada Byron')
  const engine = await forge.nobody.read('/repos/ada/engine')
  assert.ok(engine.stargazers_count >= 3 && engine.forks_count === 1)
  assert.equal((await forge.nobody.get('/repos/clockwork/ledger')).status, 404)
  assert.equal((await ada.read('/repos/clockwork/ledger')).permissions.push, true)
  assert.deepEqual(linesOf(await ada.read('/orgs/clockwork/teams'), 'slug').sort(), ['menders', 'ringers'])
  const reasons = new Set(linesOf(await ada.read('/notifications?per_page=50'), 'reason'))
  for (const reason of ['mention', 'assign', 'review_requested', 'team_mention', 'subscribed', 'author'])
    assert.ok(reasons.has(reason), reason)
  const pulls = await ada.read('/repos/clockwork/tower/pulls?state=all&per_page=100')
  assert.ok(pulls.some(({ draft }: { draft: boolean }) => draft))
  assert.ok(pulls.filter(({ merged_at }: { merged_at: string | null }) => merged_at).length >= 4)
  const [hook] = await cleo.read('/repos/clockwork/tower/hooks')
  const deliveries = await cleo.read(`/repos/clockwork/tower/hooks/${hook.id}/deliveries?per_page=100`)
  assert.ok(deliveries.length >= 20)
  assert.ok(deliveries.some(({ status_code }: { status_code: number }) => status_code === 503))
  const days = new Set(deliveries.map(({ delivered_at }: { delivered_at: string }) => delivered_at.slice(0, 10)))
  assert.ok(days.size >= 10)
  assert.equal((await cleo.read('/repos/clockwork/old-plans/import')).status, 'complete')
  for (const login of Object.keys(tokens)) assert.equal((await new Guest(forge).signIn(login, password)).status, 303, login)
  assert.equal(await loadDemo(forge.belfry), null)
})

test('every link of the pages leads somewhere, for Ada', async () => {
  await follows(await signedInBy('ada'), 2)
})

test('every link of the pages leads somewhere, for a site admin', async () => {
  const cleo = await loadAccount(forge.belfry.db, 'cleo')
  await forge.belfry.db.transaction((db) => setSiteAdmin(db, cleo, true))
  await follows(await signedInBy('cleo'), 1)
})

test('every link of the pages leads somewhere, for a visitor', async () => {
  await follows(new Guest(forge), 1)
})

async function follows(guest: Guest, most: number) {
  const { broken, opened } = await crawl(guest, forge.web, { starts, most })
  assert.ok(opened > 50, `${opened} pages`)
  assert.deepEqual(
    broken.map(({ status, path, from }) => `${status} ${path} named by ${from}`),
    [],
  )
}
