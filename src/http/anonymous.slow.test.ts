import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiGroups } from '#app.ts'
import { type Client, expect, openForge } from '#test/forge.ts'
import { selfHosted, type Variant, versioned } from '#variants.ts'
import type { Endpoint } from './endpoint.ts'

/** Public and hidden things of every kind that a path can name. */
async function openPlaces() {
  const forge = await openForge({ settings: { BELFRY_IMPORTS: 'open' } })
  const ada = await forge.person('ada')
  await forge.organization('acme', ada)
  await ada.owns('engine', { auto_init: true })
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core' }))
  const secret = await ada.owns('secret', { private: true })
  const endpoints = apiGroups(forge.belfry).flatMap((group) => group.endpoints)
  const variants: [Variant, Client][] = [
    [selfHosted, forge.nobody],
    [versioned, forge.nobodyVersioned],
  ]
  return Object.assign(forge, { ada, secret_id: secret.id as number, endpoints, variants })
}

const fill = (path: string, names: Record<string, string>) => path.replaceAll(/\{(\w+)\+?\}/g, (_, name) => names[name] ?? '1')

async function ask(client: Client, { method }: Endpoint, path: string) {
  const answer = await fetch(`${client.base}${path}`, { method, redirect: 'manual' })
  return { status: answer.status, body: await answer.text() }
}

const served = (endpoint: Endpoint, variant: Variant) => !endpoint.served || endpoint.served(variant)

test('without a name, a repository that is hidden is missing at every endpoint, and only a visible one asks for a name', async () => {
  await using forge = await openPlaces()
  const wrong: string[] = []
  let walked = 0
  for (const [variant, client] of forge.variants) {
    for (const endpoint of forge.endpoints) {
      const { method, path, viewer } = endpoint
      // Without a token of an app, those for apps refuse everyone before they look for anything.
      if (!path.includes('{owner}/{repo}') || viewer === 'app' || !served(endpoint, variant)) continue
      walked++
      const at = (repo: string) => fill(path, { owner: 'ada', repo, org: 'acme', team_slug: 'core', username: 'ada' })
      const [hidden, absent] = [await ask(client, endpoint, at('secret')), await ask(client, endpoint, at('absent'))]
      const told = `${variant.name} ${method} ${path}`
      if (hidden.status !== 404) wrong.push(`${told}: ${hidden.status} where it is hidden`)
      if (hidden.status !== absent.status || hidden.body !== absent.body) wrong.push(`${told}: hidden and missing differ`)
      if (path.startsWith('/repos/')) {
        const byId = at('secret').replace('/repos/ada/secret', `/repositories/${forge.secret_id}`)
        const found = await ask(client, endpoint, byId)
        if (found.status !== 404 || found.body !== hidden.body) wrong.push(`${told}: ${found.status} by its id`)
      }
      if (viewer === 'optional') continue
      // A team is hidden from everyone outside its organization, whatever else the path names.
      const visible = await ask(client, endpoint, at('engine'))
      const expected = path.includes('{team_slug}') ? 404 : 401
      if (visible.status !== expected) wrong.push(`${told}: ${visible.status} where it is visible`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(walked > 250, `${walked} endpoints`)
})

test('without a name, an organization or team that is not there is missing at every endpoint', async () => {
  await using forge = await openPlaces()
  const wrong: string[] = []
  for (const [variant, client] of forge.variants) {
    for (const endpoint of forge.endpoints) {
      const { method, path, viewer } = endpoint
      if (
        !path.includes('{org}') ||
        path.includes('{repo}') ||
        viewer === 'site_admin' ||
        viewer === 'app' ||
        !served(endpoint, variant)
      )
        continue
      const at = (org: string, team_slug = 'core') => fill(path, { org, team_slug, username: 'ada' })
      const told = `${variant.name} ${method} ${path}`
      const absent = await ask(client, endpoint, at('absent'))
      if (absent.status !== 404) wrong.push(`${told}: ${absent.status} where there is no organization`)
      if (path.includes('{team_slug}')) {
        const [hidden, none] = [await ask(client, endpoint, at('acme')), await ask(client, endpoint, at('acme', 'none'))]
        if (hidden.status !== 404 || hidden.body !== none.body) wrong.push(`${told}: ${hidden.status} for a team`)
      } else if (viewer !== 'optional') {
        const visible = await ask(client, endpoint, at('acme'))
        if (visible.status !== 401) wrong.push(`${told}: ${visible.status} for an organization`)
      }
    }
  }
  assert.deepEqual(wrong, [])
})

test('an old name that leads to a hidden repository is missing too', async () => {
  await using forge = await openPlaces()
  const { ada, nobody } = forge
  await expect(200, await ada.patch('/repos/ada/secret', { name: 'vault' }))
  await expect(200, await ada.patch('/repos/ada/engine', { name: 'motor' }))
  assert.equal((await nobody.put('/repos/ada/secret/subscription')).status, 404)
  const moved = await nobody.put('/repos/ada/engine/subscription')
  assert.equal(moved.status, 307)
  assert.equal((await nobody.put(moved.headers.get('location') ?? '')).status, 401)
})
