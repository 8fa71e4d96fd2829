import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract, type Fault } from '#test/activity/schemas.ts'
import { engine } from '#test/conversations.ts'
import { subscribe } from '#test/feeds.ts'
import { type Client, expect, injecting } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

/** Every request with a response body; creations come first. `{n}` is a new number on each variant. */
const visits: [operation: string, method: 'get' | 'post' | 'put' | 'patch', path: string, body?: object][] = [
  ['pulls/create', 'post', 'pulls', { title: 'Notes', head: 'topic-{n}', base: 'main', body: 'All of them' }],
  ['issues/update', 'patch', 'issues/{n}', { labels: ['bug'], assignees: ['ben'] }],
  ['pulls/update', 'patch', 'pulls/{n}', { title: 'Better notes', state: 'closed' }],
  ['pulls/update', 'patch', 'pulls/{n}', { state: 'open' }],
  ['pulls/update-branch', 'put', 'pulls/{n}/update-branch'],
  ['pulls/get', 'get', 'pulls/{n}'],
  ['pulls/list', 'get', 'pulls'],
  ['pulls/list-commits', 'get', 'pulls/{n}/commits'],
  ['pulls/list-files', 'get', 'pulls/{n}/files'],
  ['repos/compare-commits-with-basehead', 'get', 'compare/main...topic-{n}'],
  ['issues/get', 'get', 'issues/{n}'],
  ['issues/list-for-repo', 'get', 'issues?state=all'],
  ['pulls/merge', 'put', 'pulls/{n}/merge', { merge_method: 'squash' }],
  ['pulls/get', 'get', 'pulls/{n}'],
  ['pulls/list', 'get', 'pulls?state=closed'],
  ['activity/list-repo-events', 'get', 'events'],
]

test('every response about pull requests matches the public documentation, on both variants', inject(async ({ forge, work }) => {
  await expect(201, await forge.ada.post(`${engine}/labels`, { name: 'bug', color: 'ff0000', description: 'Wrong' }))
  for (const n of ['1', '2']) {
    await work.git('checkout', '--quiet', '-b', `topic-${n}`, 'topic')
    await work.commit('Change', { 'readme.txt': 'one\n', [`${n}.txt`]: n, 'ü 1.bin': Buffer.from([0, 1]) })
    await work.git('mv', 'notes.txt', 'moved.txt')
    await work.commit('Move', {})
    await work.push(`topic-${n}`)
  }
  await work.git('checkout', '--quiet', 'main')
  for (const [index, name] of (['self-hosted', 'versioned'] as const).entries()) {
    await work.git('pull', '--quiet', '--rebase', 'origin', 'main')
    await work.commit('On', { [`on-${name}.txt`]: 'o\n' })
    await work.push('main')
    const contract = Contract.of(name)
    const speaker: Client = name === 'versioned' ? forge.ada.versioned : forge.ada
    const ada = speaker.with({ accept: 'application/vnd.github+json' })
    const fill = (text: string) => text.replaceAll('{n}', String(index + 1))
    const faults: Fault[] = []
    for (const [operation, method, path, body] of visits) {
      const answer = await ada[method](`${engine}/${fill(path)}`, body && JSON.parse(fill(JSON.stringify(body))))
      const found = await answer.json()
      assert.ok(answer.ok, `${operation}: ${answer.status} ${JSON.stringify(found)}`)
      if (Array.isArray(found)) assert.ok(found.length > 0, `${path} shows nothing`)
      faults.push(...contract.check(operation, answer.status, 'application/json', found))
      await forge.follow()
      if (path !== 'events') continue
      const events = found as { type: string; payload: { action: string } }[]
      for (const event of events) faults.push(...contract.checkPayload(operation, event))
      const told = events.filter(({ type }) => type === 'PullRequestEvent').map(({ payload }) => payload.action)
      const merge = name === 'versioned' ? 'merged' : 'closed'
      assert.deepEqual(told.slice(0, 6), [merge, 'reopened', 'closed', 'labeled', 'assigned', 'opened'])
    }
    assert.deepEqual([...new Set(faults.map(({ operation, path, message }) => `${operation} ${path} ${message}`))], [])
  }
}))

test('the newest version has neither a single assignee nor the commit of the merge', inject(async ({ propose, ada }) => {
  await propose()
  const newest = ada.versioned.with({ 'x-service-api-version': '2026-03-10' })
  const pull = await newest.read(`${engine}/pulls/1`)
  assert.ok(!('assignee' in pull) && !('merge_commit_sha' in pull))
}))

test('feeds describe pull request events in words', inject(async ({ ada, propose, web }) => {
  await propose()
  await expect(201, await ada.post(`${engine}/issues/1/comments`, { body: 'Look' }))
  await expect(200, await ada.patch(`${engine}/issues/1`, { labels: ['bug'], assignees: ['ben'] }))
  await expect(200, await ada.put(`${engine}/pulls/1/merge`))
  const { titles, text } = await subscribe(`${web}/ada.atom`)
  assert.deepEqual(titles.slice(0, 6), [
    'ada merged pull request #1 in ada/engine',
    'ada pushed 2 commits to main in ada/engine',
    'ada added the label bug to pull request #1 in ada/engine',
    'ada assigned ben to pull request #1 in ada/engine',
    'ada commented on pull request #1 in ada/engine',
    'ada opened pull request #1 in ada/engine',
  ])
  assert.match(text, new RegExp(`href="${web}/ada/engine/pull/1#issuecomment-\\d+"`))
}))

test('commits are compared by branch, tag and SHA', inject(async ({ nobody, main, topic }) => {
  const compare = (names: string) => nobody.get(`${engine}/compare/${names}`)
  assert.partialDeepStrictEqual(await expect(200, await compare('main...topic')), {
    status: 'ahead',
    ahead_by: 1,
    behind_by: 0,
    total_commits: 1,
    base_commit: { sha: main },
    merge_base_commit: { sha: main },
    commits: [{ sha: topic, author: { login: 'ada' } }],
    files: [{ filename: 'notes.txt', status: 'added' }],
  })
  assert.equal((await expect(200, await compare(`ada:${topic}...${main.slice(0, 8)}`))).status, 'behind')
  for (const names of [
    'main',
    'main...',
    'main...gone',
    'dan:main...topic',
    'main...topic...main',
    '--all...main',
    '..%2F...main',
  ]) {
    await expect(404, await compare(names))
  }
}))
