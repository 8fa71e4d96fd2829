import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, repo } from '#test/conversations.ts'
import { expect, injecting, linesOf } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'
import { openWithTopic, pullEvents } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

for (const variant of ['self-hosted', 'versioned'] as const) {
  test(`octokit opens, finds, changes, closes and reopens a pull request on the ${variant} variant`, inject(async (forge) => {
    const baseUrl = variant === 'versioned' ? forge.versioned : `${forge.web}/api/v3`
    const { pulls, issues } = new Octokit({ baseUrl, auth: forge.ada.token })
    await forge.open()
    const made = await pulls.create({ ...repo, title: 'Notes', head: 'topic', base: 'main', body: 'As @ben asked.' })
    assert.equal(made.status, 201)
    const url = `${baseUrl}${engine}/pulls/2`
    assert.equal(made.headers.location, url)
    assert.partialDeepStrictEqual(made.data, {
      url,
      number: 2,
      html_url: `${forge.web}/ada/engine/pull/2`,
      diff_url: `${forge.web}/ada/engine/pull/2.diff`,
      issue_url: `${baseUrl}${engine}/issues/2`,
      title: 'Notes',
      body: 'As @ben asked.',
      state: 'open',
      draft: false,
      user: { login: 'ada' },
      author_association: 'OWNER',
      head: { label: 'ada:topic', ref: 'topic', sha: forge.topic, repo: { full_name: 'ada/engine' } },
      base: { label: 'ada:main', ref: 'main', sha: forge.main, repo: { full_name: 'ada/engine' } },
      merged: false,
      mergeable: true,
      mergeable_state: 'clean',
      merged_by: null,
      merge_commit_sha: null,
      commits: 1,
      additions: 1,
      deletions: 0,
      changed_files: 1,
      created_at: '2026-02-03T04:05:06Z',
    })
    const got = (await pulls.get({ ...repo, pull_number: 2 })).data
    const { head, base, ...rest } = made.data
    assert.partialDeepStrictEqual(got, rest)
    const [listed] = (await pulls.list(repo)).data
    assert.partialDeepStrictEqual(got, listed)
    const { data: issue } = await issues.get({ ...repo, issue_number: 2 })
    assert.partialDeepStrictEqual(issue, { html_url: made.data.html_url, draft: false, pull_request: { url, merged_at: null } })
    assert.deepEqual(linesOf((await issues.listForRepo(repo)).data, 'number', 'pull_request.url'), [`2 ${url}`, '1 '])
    forge.clock.advance(60_000)
    const closed = await pulls.update({ ...repo, pull_number: 2, title: 'More notes', body: '', state: 'closed' })
    assert.partialDeepStrictEqual(closed.data, {
      title: 'More notes',
      state: 'closed',
      merged: false,
      closed_at: '2026-02-03T04:06:06Z',
    })
    assert.deepEqual((await pulls.list(repo)).data, [])
    assert.equal((await issues.update({ ...repo, issue_number: 2, state: 'open' })).data.state_reason, null)
    const files = (await pulls.listFiles({ ...repo, pull_number: 2 })).data
    assert.partialDeepStrictEqual(files, [
      { filename: 'notes.txt', status: 'added', additions: 1, patch: '@@ -0,0 +1 @@\n+A note.' },
    ])
    const commits = (await pulls.listCommits({ ...repo, pull_number: 2 })).data
    assert.partialDeepStrictEqual(commits, [{ sha: forge.topic, commit: { message: 'Add notes\n' }, author: { login: 'ada' } }])
    await assert.rejects(pulls.checkIfMerged({ ...repo, pull_number: 2 }), { status: 404 })
    const { data: merged } = await pulls.merge({ ...repo, pull_number: 2 })
    assert.equal(merged.message, 'Pull Request successfully merged')
    assert.equal((await pulls.checkIfMerged({ ...repo, pull_number: 2 })).status, 204)
    assert.deepEqual(await pullEvents(forge), ['ada opened 2', 'ada closed 2', 'ada reopened 2', 'ada closed merged 2'])
    const after = await pulls.get({ ...repo, pull_number: 2 })
    assert.partialDeepStrictEqual(after.data, {
      commits: 1,
      additions: 1,
      changed_files: 1,
      base: { sha: forge.main },
      state: 'closed',
    })
    assert.deepEqual((await pulls.listFiles({ ...repo, pull_number: 2 })).data, files)
    assert.deepEqual((await pulls.listCommits({ ...repo, pull_number: 2 })).data, commits)
  }))
}

test('an invalid pull request is refused, and uses no number', inject(async ({ ada, work, propose }) => {
  const refused = async (body: object, ...faults: object[]) => {
    const answer = await ada.post(`${engine}/pulls`, { title: 'Notes', head: 'topic', base: 'main', ...body })
    const { message, errors } = await expect(422, answer)
    assert.deepEqual([message, errors], ['Validation Failed', faults.map((fault) => ({ resource: 'PullRequest', ...fault }))])
  }
  await refused({ head: 'nowhere' }, { code: 'invalid', field: 'head' })
  await refused({ head: 'ben:topic' }, { code: 'invalid', field: 'head' })
  await refused({ head: 'topic~1' }, { code: 'invalid', field: 'head' })
  await refused({ base: 'top' }, { code: 'invalid', field: 'base' })
  await refused({ base: '--help' }, { code: 'invalid', field: 'base' })
  await refused({ title: ' ' }, { code: 'missing_field', field: 'title' })
  await refused({ head: 'main' }, { code: 'custom', message: 'No commits between main and main' })
  await refused({ head: 'main', base: 'topic' }, { code: 'custom', message: 'No commits between topic and main' })
  await work.git('checkout', '--quiet', '--orphan', 'other')
  await work.commit('Another beginning')
  await work.push('other')
  await refused({ head: 'other' }, { code: 'custom', message: 'The other branch has no history in common with main' })
  await refused({ issue: 9 }, { code: 'invalid', field: 'issue' })
  for (const body of [{ head: 1 }, { base: null }, { head: 'topic' }, { head: 'topic', base: 'main', issue: 'x' }]) {
    await expect(422, await ada.post(`${engine}/pulls`, body))
  }
  const { number } = await propose()
  assert.equal(number, 1)
  await refused({}, { code: 'custom', message: 'A pull request already exists for ada:topic.' })
  await work.push('topic:refs/heads/again')
  await refused({ head: 'again', issue: 1 }, { code: 'invalid', field: 'issue' })
}))

test('an issue becomes a pull request, by its author or with push access', inject(async ({ ada, ben, cy, open }) => {
  await open({ title: 'Wish', body: 'For notes', labels: ['wish'] })
  const body = { issue: 1, head: 'topic', base: 'main' }
  await expect(403, await cy.post(`${engine}/pulls`, body))
  const pull = await expect(201, await ben.post(`${engine}/pulls`, body))
  assert.partialDeepStrictEqual(pull, {
    number: 1,
    title: 'Wish',
    body: 'For notes',
    labels: [{ name: 'wish' }],
    user: { login: 'ada' },
  })
  assert.equal((await ada.read(engine)).open_issues_count, 1)
}))

test('lists filter by state and branches, and sort', inject(async ({ ada, ben, work, clock, propose, nobody }) => {
  for (const name of ['one', 'two']) {
    await work.git('checkout', '--quiet', '-b', name, 'topic')
    await work.commit(name)
    await work.push(name)
  }
  await propose()
  await propose({ head: 'one' })
  await propose({ head: 'two', base: 'one', draft: true })
  clock.advance(60_000)
  await expect(201, await ben.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  await expect(200, await ada.patch(`${engine}/pulls/2`, { state: 'closed' }))
  const list = async (query: string) =>
    (await nobody.read(`${engine}/pulls${query}`)).map(({ number }: { number: number }) => number)
  assert.deepEqual(await list(''), [3, 1])
  assert.deepEqual(await list('?state=closed'), [2])
  assert.deepEqual(await list('?state=all&direction=asc'), [1, 2, 3])
  assert.deepEqual(await list('?state=all&sort=popularity&direction=desc'), [1, 3, 2])
  assert.deepEqual(await list('?state=all&sort=updated'), [3, 1, 2])
  assert.deepEqual(await list('?sort=long-running'), [1, 3])
  assert.deepEqual(await list('?state=all&head=ADA:one'), [2])
  assert.deepEqual(await list('?head=ben:topic'), [])
  assert.deepEqual(await list('?head=topic'), [3, 1])
  assert.deepEqual(await list('?base=one'), [3])
  const page = await nobody.get(`${engine}/pulls?state=all&per_page=2`)
  assert.match(page.headers.get('link') ?? '', /page=2>; rel="next"/)
}))
