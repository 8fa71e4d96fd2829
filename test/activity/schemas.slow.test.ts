import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Client, expect, openForge } from '#test/forge.ts'
import { additions, Contract, differences, type Fault, isSaid, type VariantName } from './schemas.ts'
import { variants } from './variants.ts'

/** Groups of our own document that this is about. */
const groups = ['Event timelines', 'Feeds', 'Starring', 'Watching', 'Releases', 'Contents', 'Git references', 'Repositories']
const besides = ['users/list-followers-for-user', 'users/list-following-for-user']

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
interface Visit {
  operation: string
  method?: Method
  path: string
  as?: 'ada' | 'ben' | 'nobody' | 'password'
  body?: Record<string, unknown>
  accept?: string
}

/** A world in which every list has something in it, and every kind of event has happened. */
async function openWorld() {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  const begin = async (owner: string, name: string, hidden: boolean) => {
    const path = owner === 'acme' ? '/orgs/acme/repos' : '/user/repos'
    await expect(201, await ada.post(path, { name, private: hidden, description: 'What it is', homepage: 'https://example.com' }))
    const file = { message: 'Begin', content: btoa('begun\n') }
    const { commit } = await expect(201, await ada.put(`/repos/${owner}/${name}/contents/docs/begin.txt`, file))
    await expect(201, await ada.post(`/repos/${owner}/${name}/git/refs`, { ref: 'refs/heads/topic', sha: commit.sha }))
    await expect(201, await ada.post(`/repos/${owner}/${name}/git/refs`, { ref: 'refs/heads/gone', sha: commit.sha }))
    assert.equal((await ada.delete(`/repos/${owner}/${name}/git/refs/heads/gone`)).status, 204)
    const body = { tag_name: 'v1', name: 'First', body: 'Notes' }
    await expect(201, await ada.post(`/repos/${owner}/${name}/releases`, body))
    for (const path of ['link/more.txt', 'docs/README.md', 'LICENSE'])
      await expect(201, await ada.put(`/repos/${owner}/${name}/contents/${path}`, { ...file, message: 'Go on' }))
    return commit.sha as string
  }
  await begin('acme', 'plans', false)
  const sha = await begin('ada', 'engine', true)
  await expect(200, await ada.patch('/repos/ada/engine', { private: false }))
  const { id } = await expect(201, await ada.put('/repos/ada/engine/collaborators/ben'))
  await expect(204, await ben.patch(`/user/repository_invitations/${id}`))
  for (const repo of ['ada/engine', 'acme/plans']) {
    await expect(204, await ben.put(`/user/starred/${repo}`))
    await expect(202, await ben.post(`/repos/${repo}/forks`))
    await expect(200, await ben.put(`/repos/${repo}/subscription`, { subscribed: true }))
  }
  await expect(204, await ben.put('/user/following/ada'))
  await expect(204, await ada.put('/user/following/ben'))
  await expect(201, await ada.post('/repos/ada/engine/releases', { tag_name: 'v2', draft: true }))
  const [release] = await forge.nobody.read('/repos/ada/engine/releases')
  forge.clock.advance(600_000)
  return Object.assign(forge, { ada, ben, sha, release: release.id as number })
}

/** Everything there is to ask; what is made is named after the variant. */
function visitsOf({ sha, release }: { sha: string; release: number }, mark: string): Visit[] {
  const repo = '/repos/ada/engine'
  const accept = 'application/vnd.github.v3.star+json'
  const file = { message: 'Write', content: btoa(mark) }
  const reads: [operation: string, path: string, as?: Visit['as']][] = [
    ['activity/list-public-events', '/events', 'nobody'],
    ['activity/list-public-events-for-repo-network', '/networks/ada/engine/events'],
    ['activity/list-public-org-events', '/orgs/acme/events'],
    ['activity/list-repo-events', `${repo}/events`],
    ['activity/list-repo-events', '/repos/acme/plans/events'],
    ['activity/list-events-for-authenticated-user', '/users/ada/events'],
    ['activity/list-events-for-authenticated-user', '/users/ben/events', 'nobody'],
    ['activity/list-org-events-for-authenticated-user', '/users/ada/events/orgs/acme'],
    ['activity/list-public-events-for-user', '/users/ada/events/public'],
    ['activity/list-received-events-for-user', '/users/ben/received_events', 'ben'],
    ['activity/list-received-public-events-for-user', '/users/ada/received_events/public'],
    ['activity/list-stargazers-for-repo', `${repo}/stargazers`],
    ['activity/get-stargazer-count-for-repo', `${repo}/stargazers/count`],
    ['activity/list-repos-starred-by-authenticated-user', '/user/starred', 'ben'],
    ['activity/list-repos-starred-by-user', '/users/ben/starred', 'nobody'],
    ['activity/list-watchers-for-repo', `${repo}/subscribers`],
    ['activity/get-repo-subscription', `${repo}/subscription`],
    ['activity/list-watched-repos-for-authenticated-user', '/user/subscriptions'],
    ['activity/list-repos-watched-by-user', '/users/ben/subscriptions', 'nobody'],
    ['users/list-followers-for-user', '/users/ada/followers'],
    ['users/list-following-for-user', '/users/ada/following', 'nobody'],
    ['repos/list-releases', `${repo}/releases`],
    ['repos/get-latest-release', `${repo}/releases/latest`],
    ['repos/get-release-by-tag', `${repo}/releases/tags/v1`],
    ['repos/get-release', `${repo}/releases/${release}`, 'nobody'],
    ['repos/get-content', `${repo}/contents/docs/begin.txt`],
    ['repos/get-content', `${repo}/contents/docs`],
    ['repos/get-readme', `${repo}/readme`],
    ['repos/get-readme-in-directory', `${repo}/readme/docs`],
    ['licenses/get-for-repo', `${repo}/license`],
    ['repos/list-tags', `${repo}/tags`],
    ['git/get-tree', `${repo}/git/trees/main?recursive=1`],
    ['git/get-ref', `${repo}/git/ref/heads/main`],
    ['git/list-matching-refs', `${repo}/git/matching-refs/heads/`],
    ['repos/list-branches', `${repo}/branches`],
    ['repos/get-branch', `${repo}/branches/topic`],
    ['repos/get-commit', `${repo}/commits/main`],
    ['repos/get', repo],
    ['repos/get', '/repos/ben/engine', 'nobody'],
    ['repos/get', '/repos/acme/plans', 'nobody'],
    ['repos/list-public', '/repositories'],
    ['repos/list-forks', `${repo}/forks`],
    ['repos/list-for-authenticated-user', '/user/repos'],
    ['repos/list-for-user', '/users/ada/repos'],
    ['repos/list-for-org', '/orgs/acme/repos'],
  ]
  return [
    ...reads.map(([operation, path, as = 'ada']) => ({ operation, path, as })),
    { operation: 'activity/list-stargazers-for-repo', path: `${repo}/stargazers`, accept },
    { operation: 'activity/list-repos-starred-by-authenticated-user', path: '/user/starred', as: 'ben' as const, accept },
    { operation: 'activity/list-repos-starred-by-user', path: '/users/ben/starred', accept },
    ...(['nobody', 'ada', 'password'] as const).flatMap((as) =>
      ['application/json', 'application/vnd.github.v3+json'].map((accept) => ({
        operation: 'activity/get-feeds',
        path: '/feeds',
        as,
        accept,
      })),
    ),
    { operation: 'activity/set-repo-subscription', method: 'put', path: `${repo}/subscription`, body: { ignored: true } },
    { operation: 'activity/set-repo-subscription', method: 'put', path: `${repo}/subscription`, body: { subscribed: true } },
    { operation: 'repos/create-release', method: 'post', path: `${repo}/releases`, body: { tag_name: mark } },
    {
      ...{ operation: 'repos/generate-release-notes', method: 'post', path: `${repo}/releases/generate-notes` },
      body: { tag_name: mark },
    },
    { operation: 'repos/update-release', method: 'patch', path: `${repo}/releases/${release}`, body: { name: mark } },
    { operation: 'repos/create-or-update-file-contents', method: 'put', path: `${repo}/contents/${mark}`, body: file },
    { operation: 'repos/delete-file', method: 'delete', path: `${repo}/contents/${mark}`, body: { message: 'Away' } },
    { operation: 'git/create-ref', method: 'post', path: `${repo}/git/refs`, body: { ref: `refs/heads/${mark}`, sha } },
    { operation: 'git/create-ref', method: 'post', path: `${repo}/git/refs`, body: { ref: `refs/tags/${mark}-tag`, sha } },
    { operation: 'git/update-ref', method: 'patch', path: `${repo}/git/refs/heads/${mark}`, body: { sha, force: true } },
    {
      operation: 'repos/rename-branch',
      method: 'post',
      path: `${repo}/branches/${mark}/rename`,
      body: { new_name: `${mark}-new` },
    },
    { operation: 'repos/create-for-authenticated-user', method: 'post', path: '/user/repos', body: { name: mark } },
    { operation: 'repos/create-in-org', method: 'post', path: '/orgs/acme/repos', body: { name: mark, private: true } },
    { operation: 'repos/update', method: 'patch', path: repo, body: { description: null, is_template: true } },
    { operation: 'repos/create-using-template', method: 'post', path: `${repo}/generate`, body: { name: `${mark}-copy` } },
    { operation: 'repos/create-fork', method: 'post', path: '/repos/acme/plans/forks', body: { name: `${mark}-plans` } },
    { operation: 'repos/transfer', method: 'post', path: `/repos/ada/${mark}/transfer`, body: { new_owner: 'ben' } },
  ]
}

test('every answer is as the public documentation has it, or differs as we say, on both variants', async () => {
  await using forge = await openWorld()
  for (const variant of variants) {
    const contract = Contract.of(variant.name)
    const nobody = variant.nobody(forge)
    const callers = {
      ada: variant.as(forge.ada),
      ben: variant.as(forge.ben),
      nobody,
      password: nobody.with({ authorization: `Basic ${btoa("ada:ada's password")}` }),
    }
    const faults: Fault[] = []
    const visited = new Set<string>()
    const kinds = new Set<string>()
    for (const visit of visitsOf(forge, variant.name)) {
      const { answer, media, found } = await make(visit, callers[visit.as ?? 'ada'])
      visited.add(visit.operation)
      if (!contract.has(visit.operation)) continue
      faults.push(...contract.check(visit.operation, answer.status, media, found))
      if (!/events($|\/)/.test(visit.path)) continue
      for (const event of found) faults.push(...contract.checkPayload(visit.operation, event))
      for (const { type } of found) kinds.add(type)
    }
    assert.deepEqual([...kinds].sort(), everyKind)
    assertAsSaid(faults, variant.name)
    await assertAllVisited(nobody, contract, visited, variant.name)
  }
})

const everyKind = ['Create', 'Delete', 'Fork', 'Member', 'Public', 'Push', 'Release', 'Watch'].map((kind) => `${kind}Event`)

/** Makes a request that must succeed. What is deleted is named by its present state. */
async function make({ method = 'get', path, accept, body }: Visit, caller: Client) {
  // The dialect of the public documentation, unless another is asked for.
  const client = caller.with({ accept: accept ?? 'application/vnd.github+json' })
  const sent = method === 'delete' ? { ...body, sha: (await client.read(path)).sha } : body
  const answer = method === 'get' ? await client.get(path) : await client[method](path, sent)
  const said = await answer.text()
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${said}`)
  const found = JSON.parse(said)
  if (Array.isArray(found)) assert.ok(found.length > 0, `${path} shows nothing to hold against the documentation`)
  const media = accept?.includes('star') ? 'application/vnd.github.v3.star+json' : 'application/json'
  return { answer, media, found }
}

const isOf = (name: VariantName) => (listed: { variant: string }) => listed.variant === name || listed.variant === 'both'

/** Every fault is one of the differences we tell of, and every such difference is really there. */
function assertAsSaid(faults: Fault[], variant: VariantName) {
  const here = differences.filter(isOf(variant))
  const unsaid = faults.filter((fault) => !here.some((said) => isSaid(said, fault)))
  assert.deepEqual([...new Set(unsaid.map(({ operation, path, message }) => `${operation} ${path} ${message}`))], [])
  const idle = here.filter((said) => !faults.some((fault) => isSaid(said, fault)))
  assert.deepEqual(idle, [], 'differences that are none')
}

/** No endpoint of these groups that answers with a body is left out. */
async function assertAllVisited(nobody: Client, contract: Contract, visited: Set<string>, variant: VariantName) {
  interface Described {
    operationId: string
    tags: string[]
    responses: Record<string, { content?: object }>
  }
  const { paths } = (await nobody.read('/openapi.json')) as { paths: Record<string, Record<string, Described>> }
  const ours = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .filter(({ operationId, tags }) => groups.includes(tags[0] ?? '') || besides.includes(operationId))
    .filter(({ responses }) => Object.entries(responses).some(([status, { content }]) => status.startsWith('2') && content))
    .map(({ operationId }) => operationId)
  assert.ok(ours.length > 40)
  const own = ours.filter((operation) => !contract.has(operation))
  assert.deepEqual(
    own.sort(),
    additions
      .filter(isOf(variant))
      .map(({ operation }) => operation)
      .sort(),
  )
  assert.deepEqual(
    ours.filter((operation) => !visited.has(operation) && !own.includes(operation)),
    [],
    'endpoints that nobody has looked at',
  )
}

test('docs/differences.md lists the same differences', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'differences.md'), 'utf8')
  const rows = page.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim().replaceAll('`', ''))
    return line.startsWith('| `') ? [cells.slice(1, -1)] : []
  })
  const told = differences.map(({ operation, variant, path, why }) => [operation, variant, path, why])
  const added = additions.map(({ operation, variant, why }) => [operation, variant, why])
  assert.deepEqual(
    rows,
    [...told, ...added].map((cells) => cells.map((cell) => cell.replaceAll('`', ''))),
  )
})
