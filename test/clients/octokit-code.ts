import assert from 'node:assert/strict'
import type { Octokit } from '@octokit/rest'
import { linesOf } from '#test/forge.ts'
import type { Story } from './story.ts'

export const engine = { owner: 'ada', repo: 'engine' }
export const base64 = (value: string) => Buffer.from(value).toString('base64')

export async function readContent(octokit: Octokit, path: string) {
  return (await octokit.repos.getContent({ ...engine, path, ref: 'main' })).data
}

/** The chapters about a repository and its history. */
export async function tellCode(story: Story, ada: Octokit, ben: Octokit) {
  await story.works('repositories', async () => {
    const { status, data } = await ada.repos.createForAuthenticatedUser({ name: 'engine', auto_init: true })
    assert.deepEqual([status, data.full_name, data.default_branch, data.private], [201, 'ada/engine', 'main', false])
    await ada.repos.update({ ...engine, description: 'It counts', homepage: 'https://engine.example' })
    const { data: shown } = await ben.repos.get(engine)
    assert.deepEqual([shown.description, shown.permissions?.push, shown.owner.login], ['It counts', false, 'ada'])
    assert.deepEqual(linesOf((await ada.repos.listForAuthenticatedUser()).data, 'full_name'), ['ada/engine'])
    await ada.repos.replaceAllTopics({ ...engine, names: ['engines', 'brass'] })
    assert.deepEqual((await ben.repos.getAllTopics(engine)).data.names, ['engines', 'brass'])
  })

  await story.works('contents', async () => {
    const file = { ...engine, path: 'docs/notes.txt' }
    const { data: made } = await ada.repos.createOrUpdateFileContents({ ...file, message: 'Add notes', content: base64('One\n') })
    const shown = await readContent(ada, 'docs/notes.txt')
    assert.ok(!Array.isArray(shown) && shown.type === 'file')
    assert.equal(Buffer.from(shown.content, 'base64').toString(), 'One\n')
    assert.equal(shown.sha, made.content?.sha)
    const wrong = { message: 'Overwrite', content: base64('Zero\n'), sha: '0'.repeat(40) }
    await assert.rejects(ada.repos.createOrUpdateFileContents({ ...file, ...wrong }), { status: 409 })
    await ada.repos.createOrUpdateFileContents({ ...file, message: 'Edit notes', content: base64('Two\n'), sha: shown.sha })
    const { data: raw } = await ada.repos.getContent({ ...file, mediaType: { format: 'raw' } })
    assert.equal(raw, 'Two\n')
    assert.deepEqual(linesOf((await readContent(ada, 'docs')) as object[], 'type', 'name'), ['file notes.txt'])
    assert.match(Buffer.from((await ada.repos.getReadme(engine)).data.content, 'base64').toString(), /engine/)
  })

  await story.works('commits, comparisons, statuses', async () => {
    const { data: commits } = await ada.repos.listCommits({ ...engine, path: 'docs/notes.txt' })
    assert.deepEqual(linesOf(commits, 'commit.message', 'author.login'), ['Edit notes ada', 'Add notes ada'])
    const [newest, oldest] = commits.map(({ sha }) => sha) as [string, string]
    const { data: commit } = await ada.repos.getCommit({ ...engine, ref: 'main' })
    assert.equal(commit.sha, newest)
    assert.deepEqual(linesOf(commit.files ?? [], 'filename', 'status', 'changes'), ['docs/notes.txt modified 2'])
    const { data: range } = await ada.repos.compareCommitsWithBasehead({ ...engine, basehead: `${oldest}...main` })
    assert.deepEqual([range.status, range.ahead_by], ['ahead', 1])
    await ada.repos.createCommitStatus({ ...engine, sha: newest, state: 'success', context: 'ci/build' })
    const { data: combined } = await ben.repos.getCombinedStatusForRef({ ...engine, ref: 'main' })
    assert.deepEqual([combined.state, combined.total_count], ['success', 1])
  })

  await story.works('git data', async () => {
    const { data: main } = await ada.git.getRef({ ...engine, ref: 'heads/main' })
    const parent = main.object.sha
    const { data: blob } = await ada.git.createBlob({ ...engine, content: 'Brass\n' })
    const entry = { path: 'parts/wheel', mode: '100644', type: 'blob', sha: blob.sha } as const
    const { data: tree } = await ada.git.createTree({ ...engine, base_tree: parent, tree: [entry] })
    const { data: commit } = await ada.git.createCommit({
      ...engine,
      message: 'Add a wheel',
      tree: tree.sha,
      parents: [parent],
    })
    await ada.git.updateRef({ ...engine, ref: 'heads/main', sha: commit.sha })
    assert.ok(!Array.isArray(await readContent(ada, 'parts/wheel')))
    const { data: all } = await ada.git.getTree({ ...engine, tree_sha: 'main', recursive: '1' })
    assert.ok(all.tree.some(({ path }) => path === 'parts/wheel'))
  })
}

/** The chapters about what is made of a history. */
export async function tellReleases(story: Story, ada: Octokit, ben: Octokit, checker: Octokit) {
  await story.works('releases, release assets, archives', async () => {
    const { data: release } = await ada.repos.createRelease({ ...engine, tag_name: 'v1.0', name: 'One', body: 'First' })
    const { data: latest } = await ben.repos.getLatestRelease(engine)
    assert.deepEqual([latest.id, latest.draft, latest.author.login], [release.id, false, 'ada'])
    assert.deepEqual(linesOf((await ben.repos.listTags(engine)).data, 'name'), ['v1.0'])
    const { data: asset } = await ada.repos.uploadReleaseAsset({
      ...engine,
      release_id: release.id,
      baseUrl: new URL(release.upload_url).origin,
      url: release.upload_url,
      name: 'engine.bin',
      data: 'cogs',
      headers: { 'content-type': 'application/octet-stream' },
    } as Parameters<typeof ada.repos.uploadReleaseAsset>[0])
    assert.deepEqual([asset.name, asset.size, asset.state], ['engine.bin', 4, 'uploaded'])
    assert.equal(await (await fetch(asset.browser_download_url)).text(), 'cogs')
    const { data: archive } = await ben.repos.downloadTarballArchive({ ...engine, ref: 'v1.0' })
    assert.deepEqual([...new Uint8Array(archive as ArrayBuffer).subarray(0, 2)], [0x1f, 0x8b])
  })

  await story.works('check runs, deployments, branch protection', async () => {
    const { data: head } = await ada.repos.getBranch({ ...engine, branch: 'main' })
    const run = { ...engine, name: 'build', head_sha: head.commit.sha, status: 'completed', conclusion: 'success' } as const
    await assert.rejects(ada.checks.create(run), { status: 403 })
    await checker.checks.create(run)
    const { data: runs } = await ben.checks.listForRef({ ...engine, ref: 'main' })
    assert.deepEqual(linesOf(runs.check_runs, 'name', 'conclusion'), ['build success'])
    const { data: deployment } = await ada.repos.createDeployment({ ...engine, ref: 'main', required_contexts: [] })
    assert.ok('id' in deployment)
    await ada.repos.createDeploymentStatus({ ...engine, deployment_id: deployment.id, state: 'success' })
    assert.deepEqual(linesOf((await ben.repos.listDeployments(engine)).data, 'environment'), ['production'])
    const rules = { required_status_checks: { strict: true, contexts: ['build'] }, enforce_admins: true }
    const none = { required_pull_request_reviews: null, restrictions: null }
    await ada.repos.updateBranchProtection({ ...engine, branch: 'main', ...rules, ...none })
    assert.equal((await ben.repos.getBranch({ ...engine, branch: 'main' })).data.protected, true)
    await ada.repos.deleteBranchProtection({ ...engine, branch: 'main' })
  })
}
