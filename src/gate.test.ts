import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiGroups, openApp } from '#app.ts'
import { expect, openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { selfHosted, versioned } from '#variants.ts'

/** What exists, by the names that paths have. Every other name is 1. */
const names: Record<string, string> = {
  owner: 'ada',
  repo: 'engine',
  org: 'acme',
  login: 'ada',
  username: 'ada',
  name: 'ada',
  slug: 'core',
}

async function openClosed() {
  const forge = await openForge({ settings: { BELFRY_SIGN_IN_ONLY: 'on' } })
  const ada = await forge.person('ada')
  await forge.organization('acme', ada)
  await ada.owns('engine', { auto_init: true })
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  return Object.assign(forge, { ada })
}

const ask = async (address: string, init: RequestInit = {}) => {
  const answer = await fetch(address, { ...init, redirect: 'manual' })
  return { status: answer.status, headers: answer.headers, location: answer.headers.get('location'), text: await answer.text() }
}

test('on a server for signed-in users, every endpoint of both APIs answers 401 without credentials', async () => {
  await using forge = await openClosed()
  const open: string[] = []
  for (const [variant, { base }] of [
    [selfHosted, forge.nobody],
    [versioned, forge.nobodyVersioned],
  ] as const) {
    for (const { method, path, served, checkOpen } of apiGroups(forge.belfry).flatMap(({ endpoints }) => endpoints)) {
      if ((served && !served(variant)) || checkOpen) continue
      const address = `${base}${path.replaceAll(/\{(\w+)\+?\}/g, (_, name) => names[name] ?? '1')}`
      const { status, text } = await ask(address, { method })
      if (status === 401 && JSON.parse(text).message === 'Requires authentication') continue
      open.push(`${method} ${path}: ${status}`)
    }
  }
  assert.deepEqual(new Set(open), new Set(['POST /app-manifests/{code}/conversions: 404']), 'whose code is the credential')
  for (const { base } of [forge.nobody, forge.nobodyVersioned]) {
    for (const path of ['/repos/ada/absent', '/repos/ada/engine/rulesets', '/user/', '/nothing?x=1']) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const { status, headers, text } = await ask(`${base}${path}`, { method })
        assert.deepEqual([status, headers.get('x-belfry-unserved')], [401, null], `${method} ${path}`)
        if (method !== 'HEAD') assert.equal(JSON.parse(text).message, 'Requires authentication')
      }
    }
  }
  assert.equal((await forge.ada.get('/repos/ada/engine')).status, 200)
})

/** The routes of a listener, from its drawing as a tree. */
function routesOf(drawing: string) {
  const stack: string[] = []
  return drawing.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods] = /^((?:[│ ] {3})*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? []
    if (!part) return []
    stack.splice(indent.length / 4, stack.length, part)
    const path = stack
      .join('')
      .replace('|:name', '')
      .replace(/(?<=\w)\*$/, '/*')
    return methods?.split(', ').map((method) => ({ method, path })) ?? []
  })
}

/** Routes that need no account. */
const forEveryone =
  /^\/(?:login|logout|signup|assets\/|avatars\/|emojis\/|healthz|readyz|metrics|api\/)|^\/:owner\/:repo\/info\/lfs\/locks/

const bodies: Record<string, string> = {
  '/:owner/:repo/info/lfs/objects/batch': JSON.stringify({ operation: 'download', objects: [] }),
}

test('on a server for signed-in users, every other address leads to sign-in, or asks for credentials', async () => {
  await using forge = await openClosed()
  const { web } = await openApp(forge.belfry)
  await web.ready()
  const routes = routesOf(web.printRoutes({ commonPrefix: false })).filter(
    ({ method, path }) => /^(GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(method) && !forEveryone.test(path),
  )
  assert.ok(routes.length > 200, `${routes.length} routes`)
  const open: string[] = []
  for (const { method, path } of routes) {
    const address = path.replaceAll(/:(\w+)(?:\(\^?.*?\$\))?/g, (_, name) => names[name] ?? '1').replace('*', 'main')
    const body = method === 'POST' ? (bodies[path] ?? new URLSearchParams({ csrf: 'x' })) : null
    const { status, location, text } = await ask(
      `${forge.web}${address}${path.endsWith('/info/refs') ? '?service=git-upload-pack' : ''}`,
      { method, body },
    )
    const asks =
      status === 401 ||
      (status === 303 && location?.startsWith('/login?')) ||
      (status === 403 && text.includes('name="password"'))
    // The page that the form of an app's manifest leads to asks.
    if (!asks && !location?.includes('/apps/new?')) open.push(`${method} ${path}: ${status} ${location ?? ''}`)
  }
  assert.deepEqual(open, [])
})

test('a session, a token or a feed key opens a server for signed-in users; wrong ones do not', async () => {
  await using forge = await openClosed()
  const { ada, web } = forge
  const visitor = await signedIn(forge, 'ada')
  for (const path of ['/', '/explore', '/ada', '/ada/engine', '/timeline.atom', '/docs']) {
    assert.equal((await visitor.get(path)).status, 200, path)
    assert.equal((await ask(`${web}${path}`, { headers: { authorization: 'Bearer bfp_wrong' } })).status, 401, path)
  }
  const basic = { authorization: `Basic ${btoa(`ada:${ada.token}`)}` }
  const fetching = '/ada/engine.git/info/refs?service=git-upload-pack'
  assert.equal((await ask(`${web}${fetching}`, { headers: basic })).status, 200)
  const refused = await ask(`${web}${fetching}`)
  assert.equal(refused.status, 401)
  assert.match(refused.headers.get('www-authenticate') ?? '', /^Basic/)
  const made = await visitor.fillAndFollow('/settings/feeds', { name: 'reader' })
  const token = /token=(bfd_\w+)/.exec(made.text)?.[1] ?? ''
  for (const path of ['/ada.atom', '/ada/engine.atom', '/ada/engine/commits.atom', '/ada.private.atom']) {
    assert.equal((await ask(`${web}${path}?token=${token}`)).status, 200, path)
    assert.notEqual((await ask(`${web}${path}?token=bfd_wrong`)).status, 200, path)
    assert.equal((await ask(`${web}${path}`)).status, 401, path)
  }
  assert.equal((await ask(`${web}/explore?token=${token}`)).status, 303, 'a feed key opens feeds only')
  const back = await ask(`${web}/ada/engine?tab=1`)
  assert.equal(back.location, `/login?return_to=${encodeURIComponent('/ada/engine?tab=1')}`)
  const absent = await ask(`${web}/ada/absent`)
  assert.deepEqual([absent.status, absent.location], [303, '/login?return_to=%2Fada%2Fabsent'], 'what is missing looks the same')
  const archive = await ada.get('/repos/ada/engine/tarball')
  assert.equal((await ask(archive.headers.get('location') ?? '')).status, 200)
})
