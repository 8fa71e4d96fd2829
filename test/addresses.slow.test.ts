import assert from 'node:assert/strict'
import { test } from 'node:test'
import { variants } from '#test/activity/variants.ts'
import { openChecker } from '#test/apps.ts'
import { type Client, expect, type Forge, openForge } from '#test/forge.ts'
import { told } from '#test/inbox.ts'
import { consent, register, signIn } from '#test/oauth.ts'

/** Addresses that the public documentation names and Belfry does not serve. */
const absent = [
  // There are no gists, and no images of emoji.
  /\/gists(\/\{gist_id\}|\/public|\/starred)?$|\/emojis$/,
  // Documented as a template only.
  /\/users\/\w+\/starred\/\{owner\}\/\{repo\}$/,
  // The account of deleted users has no page.
  /^[^/]+\/\/[^/]+\/ghost$/,
]

/** A repository with one of everything, and the paths of all resources. */
async function fill(ada: Client, ben: Client, checker: Client) {
  const repo = '/repos/ada/engine'
  const make = async (client: Client, path: string, body: object) => expect(201, await client.post(path, { ...body }))
  await make(ada, '/user/repos', { name: 'engine', auto_init: true })
  const file = { message: 'Add notes', content: Buffer.from('One\n').toString('base64') }
  const { commit } = await expect(201, await ada.put(`${repo}/contents/a%20b/notes.txt`, file))
  await make(ada, `${repo}/milestones`, { title: 'v1' })
  await make(ben, `${repo}/issues`, { title: 'It rattles' })
  await expect(200, await ada.patch(`${repo}/issues/1`, { labels: ['a noise'], milestone: 1, assignees: ['ada'] }))
  await make(ada, `${repo}/issues/1/comments`, { body: 'Which wheel, @ben?' })
  await make(ben, `${repo}/issues/1/reactions`, { content: 'heart' })
  await make(ada, `${repo}/git/refs`, { ref: 'refs/heads/topic/oil', sha: commit.sha })
  await expect(201, await ada.put(`${repo}/contents/oil.txt`, { ...file, branch: 'topic/oil' }))
  await make(ada, `${repo}/pulls`, { title: 'Oil it', head: 'topic/oil', base: 'main' })
  const comments = [{ path: 'oil.txt', position: 1, body: 'Which oil?' }]
  await expect(200, await ben.post(`${repo}/pulls/2/reviews`, { event: 'COMMENT', body: 'Good', comments }))
  const release = await make(ada, `${repo}/releases`, { tag_name: 'v1.0' })
  await expect(201, await ada.post(`${repo}/releases/${release.id}/assets?name=a.txt`, 'cogs'))
  await make(ada, `${repo}/commits/${commit.sha}/comments`, { body: 'Nice' })
  await make(ada, `${repo}/statuses/${commit.sha}`, { state: 'success' })
  await make(checker, `${repo}/check-runs`, { name: 'build', head_sha: commit.sha })
  await make(ada, `${repo}/deployments`, { ref: 'main', required_contexts: [] })
  await make(ada, `${repo}/hooks`, { config: { url: 'http://127.0.0.1:9999/hook' } })
  await expect(202, await ben.post(`${repo}/forks`))
  await make(ada, '/orgs/acme/teams', { name: 'Core' })
  const own = [
    '',
    '/issues/1',
    '/issues/2',
    '/issues/1/comments',
    '/issues/1/events',
    '/issues/1/timeline',
    '/issues/1/reactions',
  ]
  const git = [
    '/commits',
    '/commits/main',
    '/commits/main/status',
    '/commits/main/check-runs',
    '/commits/main/check-suites',
    '/comments',
  ]
  const refs = [
    '/branches',
    '/branches/main',
    '/branches/topic/oil',
    '/tags',
    '/git/refs',
    '/git/trees/main',
    `/git/commits/${commit.sha}`,
  ]
  const pulls = [
    '/pulls/2',
    '/pulls/2/reviews',
    '/pulls/2/comments',
    '/pulls/2/files',
    '/pulls/2/commits',
    '/compare/main...topic/oil',
  ]
  const files = ['/contents', '/contents/a%20b/notes.txt', '/readme', '/releases', '/statuses/main', '/deployments', '/labels']
  const others = ['/milestones', '/hooks', '/stargazers', '/events', '/forks', '/collaborators', '/subscription', '/invitations']
  const people = [
    '/',
    '/user',
    '/users/ben',
    '/users/acme',
    '/orgs/acme',
    '/user/orgs',
    '/orgs/acme/teams',
    '/orgs/acme/members',
    '/feeds',
  ]
  return [...people, '/notifications', ...[own, git, refs, pulls, files, others].flat().map((path) => `${repo}${path}`)]
}

/** Every address in a body. */
function addressesIn(value: unknown, key = ''): string[] {
  if (typeof value === 'string') return /(^|_)(url|href)$/.test(key) && /^https?:/.test(value) ? [value] : []
  return value ? Object.entries(value).flatMap(([name, inner]) => addressesIn(inner, Array.isArray(value) ? key : name)) : []
}

/** The forms of a URI template: without its optional segments, and with all. Parameters are left out, and names without a value stay. */
function formsOf(template: string, values: Record<string, string>) {
  const path = template.replaceAll(/\?.*|\{[?&].*/g, '').replaceAll(/\{(\/?)(\w+)\}/g, (whole, slash, name) => {
    const value = values[name]
    return value === undefined ? whole : `${slash}${value}`
  })
  return new Set([path.replaceAll(/\{\/\w+\}/g, ''), path.replaceAll(/\{\/(\w+)\}/g, '/{$1}')])
}

/** Whether a documented path fits, with names in either. Names of refs, files and folders have slashes. */
function openPaths({ paths }: { paths: Record<string, unknown> }) {
  const patterns = Object.keys(paths).map((path) => {
    const text = path
      .replaceAll(/[.+]/g, '\\$&')
      .replaceAll(/\{(\w+)\}/g, (_, name) => (/^(ref|path|branch|basehead)$/.test(name) ? '.+' : '[^/]+'))
    return new RegExp(`^${text}$`)
  })
  return (path: string) => patterns.some((pattern) => pattern.test(path))
}

for (const variant of variants) {
  test(`every address that an answer names is served on the ${variant.name} variant`, async () => {
    await using forge: Forge = await openForge({ worker: true })
    const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
    await forge.organization('acme', ada)
    const client = variant.as(ada)
    const paths = await fill(client, variant.as(ben), await openChecker(forge, ada))
    await told(forge)
    const isDocumented = openPaths(await client.read('/openapi.json'))
    const found = new Map<string, string>()
    for (const path of paths)
      for (const address of addressesIn(await client.read(path))) if (!found.has(address)) found.set(address, path)
    const visitor = await signIn(forge, 'ada')
    const { client_id } = await register(forge)
    await consent(visitor, { client_id })
    const values = { privacy: 'public', archive_format: 'tarball', user: 'ada', client_id }
    const wrong: string[] = []
    const check = async (address: string, path: string) => {
      if (!address.startsWith(client.base) && !address.startsWith(forge.web)) return
      const inside = address.startsWith(client.base) ? address.slice(client.base.length) : null
      if ((inside !== null && isDocumented(inside)) || absent.some((pattern) => pattern.test(address))) return
      if (address.includes('{')) return void wrong.push(`${address} of ${path}`)
      const answer = inside === null ? await visitor.get(address) : await client.get(address)
      await answer.arrayBuffer()
      if (answer.status >= 400) wrong.push(`${answer.status} ${address} of ${path}`)
    }
    for (const [template, path] of found) for (const address of formsOf(template, values)) await check(address, path)
    assert.ok(found.size > 250, `${found.size}`)
    assert.deepEqual(wrong, [])
  })
}
