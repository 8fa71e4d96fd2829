import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadUser } from '#identity/accounts.ts'
import { createFineGrainedToken } from '#parts/account/personal-tokens/personal-tokens.ts'
import { join } from '#test/conversations.ts'
import { type Forge, injecting, openForge } from '#test/forge.ts'
import { Desk } from '#test/git.ts'

const inject = injecting(openPlaces)
const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

async function ask(forge: Forge, authorization: string | null, place: string, service: 'upload-pack' | 'receive-pack') {
  const answer = await fetch(`${forge.web}/${place}/info/refs?service=git-${service}`, {
    headers: authorization === null ? {} : { authorization },
    redirect: 'manual',
  })
  const text = await answer.text()
  if (answer.status === 401) assert.match(answer.headers.get('www-authenticate') ?? '', /^Basic realm="Belfry"/)
  if (answer.status >= 400) assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
  return { status: answer.status, text }
}

async function openPlaces() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await ada.owns('open', { auto_init: true })
  await ada.owns('closed', { auto_init: true, private: true })
  for (const repo of ['open', 'closed']) {
    await join(ada, ben, 'push', `/repos/ada/${repo}`)
    await join(ada, cy, 'pull', `/repos/ada/${repo}`)
  }
  return Object.assign(forge, { ada, ben, cy, eve: await forge.person('eve') })
}

test('fetch and push follow the access rules of the API', inject(async ({ forge, ada, ben, cy, eve }) => {
  const expected: [who: string | null, place: string, fetch: number, push: number][] = [
    [null, 'ada/open.git', 200, 401],
    [null, 'ada/closed.git', 401, 401],
    [null, 'ada/nothing.git', 401, 401],
    [ada.token, 'ada/closed', 200, 200],
    [ada.token, 'ADA/Closed.git', 200, 200],
    [ben.token, 'ada/closed.git', 200, 200],
    [cy.token, 'ada/closed.git', 200, 403],
    [eve.token, 'ada/open.git', 200, 403],
    [eve.token, 'ada/closed.git', 404, 404],
    [eve.token, 'ada/nothing.git', 404, 404],
    [eve.token, 'ada/no%00thing.git', 404, 404],
    [eve.token, 'ada/%2e%2e.git', 404, 404],
    ['bfp_wrong', 'ada/open.git', 401, 401],
  ]
  for (const [token, place, fetching, pushing] of expected) {
    const authorization = token && `Bearer ${token}`
    const told = `${forge.web}/${place} by ${[ada, ben, cy, eve].find((person) => person.token === token)?.login ?? token}`
    assert.equal((await ask(forge, authorization, place, 'upload-pack')).status, fetching, `fetch ${told}`)
    assert.equal((await ask(forge, authorization, place, 'receive-pack')).status, pushing, `push ${told}`)
  }
  assert.deepEqual(
    await ask(forge, `Bearer ${eve.token}`, 'ada/closed.git', 'upload-pack'),
    await ask(forge, `Bearer ${eve.token}`, 'ada/nothing.git', 'upload-pack'),
  )
}))

test('requests that transfer packs check access like the first request', inject(async ({ web, cy, eve, ben }) => {
  const send = async (service: string, place: string, token: string | null) =>
    (
      await fetch(`${web}/${place}/git-${service}`, {
        method: 'POST',
        headers: token ? { authorization: `Bearer ${token}` } : {},
        body: '0000',
      })
    ).status
  assert.equal(await send('receive-pack', 'ada/open.git', null), 401)
  assert.equal(await send('receive-pack', 'ada/open.git', cy.token), 403)
  assert.equal(await send('receive-pack', 'ada/closed.git', eve.token), 404)
  assert.equal(await send('receive-pack', 'ada/closed.git', ben.token), 200)
  assert.equal(await send('upload-pack', 'ada/closed.git', null), 401)
  assert.equal(await send('upload-pack', 'ada/closed.git', eve.token), 404)
}))

test('a token is limited to its scopes: public_repo is for public repositories', inject(async (forge) => {
  const status = async (scopes: string[], place: string, service: 'upload-pack' | 'receive-pack') => {
    const { token } = await forge.tokenFor('ada', scopes)
    return (await ask(forge, `token ${token}`, place, service)).status
  }
  assert.equal(await status(['public_repo'], 'ada/open.git', 'receive-pack'), 200)
  assert.equal(await status(['public_repo'], 'ada/closed.git', 'upload-pack'), 404)
  assert.equal(await status(['public_repo'], 'ada/closed.git', 'receive-pack'), 404)
  assert.equal(await status(['repo'], 'ada/closed.git', 'receive-pack'), 200)
  assert.equal(await status(['user'], 'ada/open.git', 'upload-pack'), 200)
  assert.equal(await status(['user'], 'ada/open.git', 'receive-pack'), 403)
}))

test('a fine-grained token needs permission to the contents', inject(async (forge) => {
  const { db } = forge.belfry
  const user = await loadUser(db, 'ada')
  const { id } = await forge.ada.read('/repos/ada/closed')
  const status = async (
    permissions: object,
    place: string,
    service: 'upload-pack' | 'receive-pack',
    repositories: number[] | null,
  ) => {
    const wanted = { note: 'x', days: null, permissions: { metadata: 'read', ...permissions } as const, repositories }
    const token = await db.transaction((transaction) => createFineGrainedToken(transaction, user, wanted))
    return (await ask(forge, basic('ada', token), place, service)).status
  }
  assert.equal(await status({}, 'ada/closed.git', 'upload-pack', null), 403)
  assert.equal(await status({}, 'ada/open.git', 'upload-pack', null), 200)
  assert.equal(await status({ contents: 'read' }, 'ada/closed.git', 'upload-pack', null), 200)
  assert.equal(await status({ contents: 'read' }, 'ada/closed.git', 'receive-pack', null), 403)
  assert.equal(await status({ contents: 'write' }, 'ada/closed.git', 'receive-pack', null), 200)
  assert.equal(await status({ contents: 'write' }, 'ada/closed.git', 'receive-pack', [id]), 200)
  assert.equal(await status({ contents: 'write' }, 'ada/open.git', 'receive-pack', [id]), 403, 'not one of those it was made for')
}))

test('git asks for credentials, and accepts a token or the password', inject(async (forge) => {
  await using desk = await Desk.open(forge)
  const work = await desk.clone(forge.ada, 'ada/closed')
  await work.commit('By token')
  await work.push()
  await work.git('remote', 'set-url', 'origin', desk.url(forge.ada, 'ada/closed', "ada's password"))
  await work.commit('By password')
  await work.push()
  const bearer = await desk.begin(null, 'ada/closed')
  await bearer.git('-c', `http.extraHeader=Authorization: Bearer ${forge.ben.token}`, 'fetch', '--quiet', 'origin')
  assert.equal(await bearer.git('rev-parse', 'origin/main'), await work.head())
  await assert.rejects(desk.clone({ login: 'ada', token: 'wrong' }, 'ada/closed'), /Authentication failed/)
  await assert.rejects(desk.clone(null, 'ada/closed'), /Authentication failed|could not read Username/)
}))

test('a push with read access is refused with a reason and moves nothing', inject(async (forge) => {
  await using desk = await Desk.open(forge)
  const work = await desk.clone(forge.eve, 'ada/open')
  const before = await work.head()
  await work.commit('Mine')
  const refused = await work.attempt('push', 'origin', 'main')
  assert.notEqual(refused.status, 0)
  assert.match(refused.stderr, /remote: Must have push access/)
  assert.equal(await (await desk.clone(null, 'ada/open')).head(), before)
}))

test('an archived repository can be cloned and not pushed to', inject(async (forge) => {
  await using desk = await Desk.open(forge)
  await forge.ada.patch('/repos/ada/open', { archived: true })
  const work = await desk.clone(forge.ada, 'ada/open')
  await work.commit('Too late')
  const refused = await work.attempt('push', 'origin', 'main')
  assert.notEqual(refused.status, 0)
  assert.match(refused.stderr, /remote: Repository was archived so is read-only/)
}))

test('a suspended user is refused, and sees the reason only with the password', inject(async (forge) => {
  assert.equal((await forge.admin.put('/users/ben/suspended')).status, 204)
  assert.equal((await ask(forge, `Bearer ${forge.ben.token}`, 'ada/closed.git', 'receive-pack')).status, 401)
  assert.equal((await ask(forge, basic('ben', 'a wrong password'), 'ada/closed.git', 'receive-pack')).status, 401)
  assert.equal((await ask(forge, basic('ben', "ben's password"), 'ada/closed.git', 'receive-pack')).status, 403)
}))
