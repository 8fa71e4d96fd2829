import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiGroups } from '#app.ts'
import { asInstallation, registerApp } from '#test/apps.ts'
import { expect, openForge } from '#test/forge.ts'
import { selfHosted } from '#variants.ts'

/** An app with this permission is installed on a private repository of acme, and a marked one is outside. */
async function openWalk(default_permissions: Record<string, string>) {
  const forge = await openForge()
  const ada = await forge.person('ada')
  await forge.organization('acme', ada)
  const marked = { private: true, description: 'marked secret', auto_init: true }
  const inside = await expect(201, await ada.post('/orgs/acme/repos', { name: 'inside', private: true, auto_init: true }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'outside', ...marked }))
  await ada.owns('own', marked)
  for (const name of ['acme/inside', 'acme/outside', 'ada/own']) {
    await expect(201, await ada.post(`/repos/${name}/issues`, { title: 'marked secret' }))
    await expect(201, await ada.post(`/repos/${name}/issues/1/comments`, { body: 'marked secret' }))
    await expect(201, await ada.post(`/repos/${name}/labels`, { name: 'marked secret' }))
    await expect(201, await ada.post(`/repos/${name}/milestones`, { title: 'marked secret' }))
    await expect(201, await ada.post(`/repos/${name}/releases`, { tag_name: 'v1', name: 'marked secret' }))
  }
  const app = await registerApp(ada, { public: true, default_permissions })
  const body = { app_slug: app.slug, repository_ids: [inside.id] }
  const installation = await expect(201, await ada.post('/orgs/acme/installations', body))
  const bot = await asInstallation(forge, app, installation)
  const endpoints = apiGroups(forge.belfry)
    .flatMap(({ endpoints }) => endpoints)
    .filter(
      ({ served, streamed, viewer }) => !streamed && viewer !== 'client' && viewer !== 'app' && (served?.(selfHosted) ?? true),
    )
  const addressOf = (path: string, owner: string, repo: string) => {
    const known: Record<string, string> = {
      owner,
      repo,
      org: 'acme',
      username: 'ada',
      ref: 'main',
      branch: 'main',
      path: 'README.md',
    }
    // For the endpoints that search.
    return `${path.replaceAll(/\{(\w+)\+?\}/g, (_, name) => known[name] ?? '1')}?q=marked`
  }
  return Object.assign(forge, { ada, bot, endpoints, addressOf })
}

test('no endpoint shows an installation a private repository outside of it', async () => {
  await using forge = await openWalk({ issues: 'read', contents: 'read', pull_requests: 'read', administration: 'read' })
  const { bot, endpoints, addressOf } = forge
  const shown: string[] = []
  let inside = 0
  for (const { path } of endpoints.filter(({ method }) => method === 'GET')) {
    const named = path.includes('{repo}')
    if (named && (await bot.get(addressOf(path, 'acme', 'inside'))).status === 200) inside++
    for (const [owner, repo] of [
      ['acme', 'outside'],
      ['ada', 'own'],
    ] as const) {
      const address = addressOf(path, owner, repo)
      const answer = await bot.get(address)
      const text = await answer.text()
      // Lists over several repositories may show the issue of the one inside, but not the name of another.
      const seen = named ? answer.status < 400 || text.includes('marked secret') : text.includes(`${owner}/${repo}`)
      if (seen) shown.push(`${address} ${answer.status}`)
    }
  }
  assert.deepEqual(shown, [])
  assert.ok(inside > 20, `${inside} endpoints show the repository inside`)
})

test('without their permission, an installation reads and writes nothing of its own private repository', async () => {
  await using forge = await openWalk({})
  const { bot, endpoints, addressOf } = forge
  const allowed: string[] = []
  for (const { method, path, permission, viewer } of endpoints) {
    const address = addressOf(path, 'acme', 'inside')
    const body = method === 'GET' ? null : '{}'
    const answer = await fetch(`${bot.base}${address}`, { method, headers: bot.headers, body, redirect: 'manual' })
    const text = await answer.text()
    const open = permission === 'metadata:read' || permission === 'any'
    if (path.includes('{repo}') && !open && answer.status < 400) allowed.push(`${method} ${address} ${answer.status}`)
    // What is open to everyone, such as rendering Markdown, writes nothing.
    if (method !== 'GET' && answer.status < 300 && path !== '/installation/token' && viewer !== 'optional')
      allowed.push(`${method} ${address} ${answer.status}`)
    // The public documentation asks for the permission to read metadata only.
    const timeline = path === '/repos/{owner}/{repo}/events'
    if (text.includes('marked secret') && !timeline) allowed.push(`${method} ${address} shows a text`)
    if (path === '/installation/token') break
  }
  assert.deepEqual(allowed, [])
})
