import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { engine } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, injecting, linesOf, pick } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

test('forks are compared by owner, with links that lead to their own commits, unless they are hidden', inject(async (forge) => {
  const { ada, dan, cy, nobody, desk, main } = forge
  await expect(202, await dan.post(`${engine}/forks`))
  await forge.follow()
  const work = await desk.clone(dan, 'dan/engine')
  await work.git('rm', '--quiet', 'readme.txt')
  const idea = await work.commit('Idea', { 'idea.txt': 'An idea.\n' })
  await work.push('HEAD:refs/heads/idea/one')
  const compared = await nobody.read(`${engine}/compare/main...dan:idea/one`)
  assert.partialDeepStrictEqual(compared, {
    status: 'ahead',
    ahead_by: 1,
    commits: [{ sha: idea }],
    merge_base_commit: { sha: main },
  })
  assert.deepEqual(linesOf(compared.files, 'status', 'filename'), ['added idea.txt', 'removed readme.txt'])
  for (const url of [compared.url, compared.commits[0].url, compared.base_commit.url, ...pick(compared.files, 'contents_url')]) {
    await expect(200, await nobody.get(url as string))
  }
  assert.equal((await nobody.read(`/repos/dan/engine/compare/ada:engine:topic...idea/one`)).status, 'diverged')
  assert.equal((await nobody.read(`${engine}/compare/dan:idea/one...main`)).status, 'behind')
  // A commit of the fork is not a commit of this repository.
  await expect(404, await nobody.get(`${engine}/compare/main...${idea}`))
  await checkContracts(ada, () => [
    ['repos/compare-commits-with-basehead', 'get', `${engine}/compare/main...dan:idea/one`],
    ['repos/compare-commits-with-basehead', 'get', `${engine}/compare/main...dan:idea/one?page=2&per_page=1`],
  ])
  const text = await nobody.with({ accept: 'application/vnd.github.patch' }).get(`${engine}/compare/main...dan:idea/one`)
  assert.match(await text.text(), new RegExp(`^From ${idea} `))
  await expect(200, await dan.patch('/repos/dan/engine', { private: true }))
  for (const caller of [nobody, cy]) await expect(404, await caller.get(`${engine}/compare/main...dan:idea/one`))
  await expect(200, await dan.get(`${engine}/compare/main...dan:idea/one`))
}))

test('a comparison shows the newest 250 commits, and pages from the oldest with the files on the first page', inject(async (forge) => {
  const { nobody } = forge
  const commits = Array.from(
    { length: 260 },
    (_, index) =>
      `commit refs/heads/long\ncommitter A <a@b> ${index} +0000\ndata 3\n${100 + index}\n${index ? '' : `from ${forge.main}\n`}`,
  )
  const { storage } = forge.belfry
  await git(['-C', storage.pathOf(forge.id), 'fast-import', '--quiet'], { input: commits.join('') })
  const read = async (query: string) => {
    const answer = await nobody.get(`${engine}/compare/main...long${query}`)
    const link = /page=(\d+)>; rel="last"/.exec(answer.headers.get('link') ?? '')?.[1]
    const { commits, total_commits } = await expect(200, answer)
    const messages = commits.map(({ commit }: { commit: { message: string } }) => commit.message.trim())
    return [total_commits, messages.length, messages[0], messages.at(-1), link]
  }
  assert.deepEqual(await read(''), [260, 250, '110', '359', undefined])
  assert.deepEqual(await read('?per_page=100'), [260, 100, '100', '199', '3'])
  assert.deepEqual(await read('?per_page=100&page=3'), [260, 60, '300', '359', undefined])
  assert.deepEqual(await read('?per_page=100&page=999999999'), [260, 0, undefined, undefined, undefined])
  assert.equal((await nobody.read(`${engine}/compare/main...topic?per_page=1`)).files.length, 1)
  assert.deepEqual((await nobody.read(`${engine}/compare/main...topic?per_page=1&page=2`)).files, [])
}))

test('a pull request and a comparison are sent as a diff and as a patch', inject(async ({ ada, propose, nobody, topic }) => {
  await propose()
  for (const path of [`${engine}/pulls/1`, `${engine}/compare/main...topic`]) {
    const diff = await nobody.with({ accept: 'application/vnd.github.v3.diff' }).get(path)
    assert.match(await diff.text(), /^diff --git a\/notes.txt b\/notes.txt\nnew file mode 100644\n[\s\S]*\+A note.\n$/)
    assert.equal(diff.headers.get('content-type'), 'application/vnd.github.v3.diff; charset=utf-8')
    const patch = await ada.versioned.with({ accept: 'application/vnd.github.v3.patch' }).get(path)
    assert.match(await patch.text(), new RegExp(`^From ${topic} [\\s\\S]*Subject: \\[PATCH\\] Add notes`))
  }
  await expect(404, await nobody.with({ accept: 'application/vnd.github.v3.diff' }).get(`${engine}/compare/main...gone`))
  await expect(200, await ada.put(`${engine}/pulls/1/merge`))
  const merged = await nobody.with({ accept: 'application/vnd.github.diff' }).get(`${engine}/pulls/1`)
  assert.match(await merged.text(), /^diff --git a\/notes.txt/)
}))
