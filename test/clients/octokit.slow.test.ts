import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openChecker } from '#test/apps.ts'
import { linesOf, openForge } from '#test/forge.ts'
import { told } from '#test/inbox.ts'
import { Octokit } from '#test/octokit.ts'
import { base64, engine, readContent, tellCode, tellReleases } from './octokit-code.ts'
import { npmVersion, Story } from './story.ts'

for (const variant of ['self-hosted', 'versioned'] as const) {
  test(`a newcomer with Octokit on the ${variant} variant`, async (t) => {
    await using forge = await openForge({ worker: true })
    const baseUrl = variant === 'versioned' ? forge.versioned : `${forge.web}/api/v3`
    const owner = await forge.person('ada')
    const [ada, ben, checker] = [owner, await forge.person('ben'), await openChecker(forge, owner)].map(
      ({ token: auth }) => new Octokit({ auth, baseUrl }),
    ) as [Octokit, Octokit, Octokit]
    const story = new Story(t, { client: 'Octokit.js (`@octokit/rest`)', version: npmVersion('@octokit/rest') })
    await tellCode(story, ada, ben)

    await story.works('labels, milestones', async () => {
      const { data: label } = await ada.issues.createLabel({ ...engine, name: 'noise', color: 'f29513', description: 'Too loud' })
      assert.deepEqual([label.name, label.color], ['noise', 'f29513'])
      await ada.issues.updateLabel({ ...engine, name: 'noise', new_name: 'sound' })
      const { data: milestone } = await ada.issues.createMilestone({ ...engine, title: 'v1', due_on: '2026-12-31T00:00:00Z' })
      assert.deepEqual([milestone.number, milestone.state, milestone.open_issues], [1, 'open', 0])
    })

    await story.works('issues, comments, reactions', async () => {
      const { data: issue } = await ben.issues.create({ ...engine, title: 'It rattles', body: 'Loudly, **always**' })
      const it = { ...engine, issue_number: issue.number }
      assert.deepEqual([issue.state, issue.user?.login, issue.labels], ['open', 'ben', []])
      await ada.issues.addLabels({ ...it, labels: ['sound'] })
      await ada.issues.update({ ...it, milestone: 1, assignees: ['ada'] })
      const { data: comment } = await ada.issues.createComment({ ...it, body: 'Which wheel, @ben?' })
      assert.equal(comment.author_association, 'OWNER')
      await ben.reactions.createForIssue({ ...it, content: '+1' })
      await ada.issues.lock({ ...it, lock_reason: 'resolved' })
      await ada.issues.update({ ...it, state: 'closed', state_reason: 'not_planned' })
      const { data: shown } = await ben.issues.get({ ...it, mediaType: { format: 'full' } })
      assert.partialDeepStrictEqual(shown, {
        state: 'closed',
        state_reason: 'not_planned',
        locked: true,
        comments: 1,
        labels: [{ name: 'sound' }],
        milestone: { title: 'v1', closed_issues: 1 },
        assignees: [{ login: 'ada' }],
        body_html: '<p>Loudly, <strong>always</strong></p>\n',
        reactions: { '+1': 1, total_count: 1 },
      })
      const { data: events } = await ada.issues.listEvents(it)
      // A job writes who was mentioned, so these two may come between any others.
      const done = linesOf(events, 'event').filter((event) => event !== 'mentioned' && event !== 'subscribed')
      assert.deepEqual(done, ['labeled', 'milestoned', 'assigned', 'locked', 'closed'])
    })

    await story.works('pull requests, reviews', async () => {
      const { data: main } = await ada.git.getRef({ ...engine, ref: 'heads/main' })
      await ada.git.createRef({ ...engine, ref: 'refs/heads/quiet', sha: main.object.sha })
      const oil = { ...engine, path: 'oil.txt', message: 'Add oil', content: base64('Oil\n'), branch: 'quiet' }
      await ada.repos.createOrUpdateFileContents(oil)
      const { data: pull } = await ada.pulls.create({ ...engine, title: 'Oil it', head: 'quiet', base: 'main', body: 'Fixes #1' })
      const it = { ...engine, pull_number: pull.number }
      assert.deepEqual([pull.state, pull.mergeable, pull.changed_files], ['open', true, 1])
      assert.deepEqual(linesOf((await ben.pulls.listFiles(it)).data, 'filename', 'status'), ['oil.txt added'])
      const { data: diff } = await ben.pulls.get({ ...it, mediaType: { format: 'diff' } })
      assert.match(`${diff}`, /^diff --git a\/oil\.txt b\/oil\.txt\n/)
      const comments = [{ path: 'oil.txt', position: 1, body: 'Which oil?' }]
      const { data: review } = await ben.pulls.createReview({ ...it, event: 'COMMENT', body: 'Good', comments })
      assert.equal(review.state, 'COMMENTED')
      const [asked] = (await ada.pulls.listReviewComments(it)).data
      await ada.pulls.createReplyForReviewComment({ ...it, comment_id: asked?.id ?? 0, body: 'Whale oil' })
      assert.deepEqual(linesOf((await ben.pulls.listReviewComments(it)).data, 'body'), ['Which oil?', 'Whale oil'])
      const { data: merged } = await ada.pulls.merge({ ...it, merge_method: 'squash' })
      assert.equal(merged.merged, true)
      assert.equal((await ada.pulls.checkIfMerged(it)).status, 204)
      assert.ok(!Array.isArray(await readContent(ada, 'oil.txt')))
    })

    await tellReleases(story, ada, ben, checker)

    await story.works('stars, watching, followers', async () => {
      await ben.activity.starRepoForAuthenticatedUser(engine)
      assert.equal((await ben.activity.checkRepoIsStarredByAuthenticatedUser(engine)).status, 204)
      assert.deepEqual(linesOf((await ada.activity.listStargazersForRepo(engine)).data, 'login'), ['ben'])
      assert.equal((await ada.repos.get(engine)).data.stargazers_count, 1)
      await ben.activity.setRepoSubscription({ ...engine, subscribed: true })
      assert.deepEqual(linesOf((await ada.activity.listWatchersForRepo(engine)).data, 'login'), ['ada', 'ben'])
      await ben.users.follow({ username: 'ada' })
      assert.equal((await ben.users.getAuthenticated()).data.following, 1)
    })

    await story.works('notifications with polling', async () => {
      await told(forge)
      const first = await ben.activity.listNotificationsForAuthenticatedUser()
      assert.deepEqual(linesOf(first.data, 'subject.title', 'reason'), ['Oil it comment', 'It rattles mention'])
      assert.equal(first.headers['x-poll-interval'], '60')
      const since = first.headers['last-modified']
      const poll = () => ben.activity.listNotificationsForAuthenticatedUser({ headers: { 'if-modified-since': since } })
      await assert.rejects(poll(), { status: 304 })
      forge.clock.advance(5_000)
      await ada.issues.create({ ...engine, title: 'It squeaks' })
      await told(forge)
      const [thread] = (await poll()).data
      assert.equal(thread?.subject.title, 'It squeaks')
      await ben.activity.markThreadAsRead({ thread_id: Number(thread?.id) })
      await ben.activity.markNotificationsAsRead()
      assert.deepEqual((await ben.activity.listNotificationsForAuthenticatedUser()).data, [])
    })

    await story.works('timelines', async () => {
      const { data: events } = await ben.activity.listRepoEvents(engine)
      assert.deepEqual(linesOf(events.slice(0, 2), 'type', 'actor.login'), ['IssuesEvent ada', 'WatchEvent ben'])
    })

    await story.works('pagination', async () => {
      for (let number = 1; number <= 5; number++)
        await ada.issues.create({ ...engine, title: `Task ${number}`, labels: ['task'] })
      const tasks = { ...engine, labels: 'task', per_page: 2 }
      const all = await ben.paginate(ben.issues.listForRepo, tasks)
      assert.deepEqual(linesOf(all, 'title'), ['Task 5', 'Task 4', 'Task 3', 'Task 2', 'Task 1'])
      const sizes: number[] = []
      for await (const { data } of ben.paginate.iterator(ben.issues.listForRepo, tasks)) sizes.push(data.length)
      assert.deepEqual(sizes, [2, 2, 1])
    })

    await story.works('search', async () => {
      const { data: issues } = await ben.search.issuesAndPullRequests({
        q: 'rattles repo:ada/engine is:issue is:closed label:sound',
      })
      assert.deepEqual([issues.total_count, ...linesOf(issues.items, 'title')], [1, 'It rattles'])
      const tasks = await ben.paginate(ben.search.issuesAndPullRequests, { q: 'task in:title repo:ada/engine', per_page: 2 })
      assert.equal(tasks.length, 5)
      assert.deepEqual(linesOf((await ben.search.repos({ q: 'engine user:ada' })).data.items, 'full_name'), ['ada/engine'])
      assert.deepEqual(linesOf((await ben.search.users({ q: 'ada' })).data.items, 'login'), ['ada'])
      assert.deepEqual(linesOf((await ben.search.code({ q: 'Brass repo:ada/engine' })).data.items, 'path'), ['parts/wheel'])
      const { data: commits } = await ben.search.commits({ q: 'wheel repo:ada/engine' })
      assert.deepEqual(linesOf(commits.items, 'commit.message'), ['Add a wheel'])
    })

    await story.works('organizations, teams', async () => {
      await forge.organization('acme', await forge.tokenFor('ada', []))
      const { data: team } = await ada.teams.create({ org: 'acme', name: 'Core Team', privacy: 'closed' })
      assert.equal(team.slug, 'core-team')
      await ada.teams.addOrUpdateMembershipForUserInOrg({ org: 'acme', team_slug: team.slug, username: 'ben' })
      const { data: repo } = await ada.repos.createInOrg({ org: 'acme', name: 'loom', private: true })
      const mayPush = async () => (await ben.repos.get({ owner: 'acme', repo: 'loom' })).data.permissions?.push
      assert.equal(await mayPush(), false)
      const shared = { org: 'acme', team_slug: team.slug, owner: 'acme', repo: repo.name, permission: 'push' } as const
      await ada.teams.addOrUpdateRepoPermissionsInOrg(shared)
      assert.equal(await mayPush(), true)
      assert.deepEqual(linesOf((await ben.orgs.listForAuthenticatedUser()).data, 'login'), ['acme'])
      assert.deepEqual(linesOf((await ada.orgs.listMembers({ org: 'acme' })).data, 'login'), ['ada', 'ben'])
    })

    await story.works('renamed repositories', async () => {
      await ada.repos.createForAuthenticatedUser({ name: 'draft' })
      await ada.repos.update({ owner: 'ada', repo: 'draft', name: 'plan' })
      const { data: repo } = await ben.repos.get({ owner: 'ada', repo: 'draft' })
      assert.equal(repo.full_name, 'ada/plan')
      const { data: issue } = await ben.issues.create({ owner: 'ada', repo: 'draft', title: 'By the old name' })
      assert.match(issue.html_url, /\/ada\/plan\/issues\/1$/)
    })

    await story.works('webhooks, collaborators, deploy keys, forks', async () => {
      const config = { url: 'http://127.0.0.1:9999/hook', content_type: 'json' }
      const { data: hook } = await ada.repos.createWebhook({ ...engine, config, events: ['push', 'issues'] })
      assert.deepEqual(linesOf((await ada.repos.listWebhooks(engine)).data, 'id'), [`${hook.id}`])
      await ada.repos.deleteWebhook({ ...engine, hook_id: hook.id })
      const { data: invitation } = await ada.repos.addCollaborator({ ...engine, username: 'ben', permission: 'push' })
      await ben.repos.acceptInvitationForAuthenticatedUser({ invitation_id: invitation?.id ?? 0 })
      const { data: level } = await ada.repos.getCollaboratorPermissionLevel({ ...engine, username: 'ben' })
      assert.equal(level.permission, 'write')
      const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJl3dIeudNqd0DPMRD6OIh65tpFcmEpyr0oUuaH9gO4G'
      const { data: added } = await ada.repos.createDeployKey({ ...engine, title: 'Deploy', key, read_only: true })
      assert.equal((await ada.repos.getDeployKey({ ...engine, key_id: added.id })).data.key, key)
      const { data: fork } = await ben.repos.createFork(engine)
      assert.deepEqual([fork.full_name, fork.fork, fork.parent?.full_name], ['ben/engine', true, 'ada/engine'])
    })

    await story.works('errors with their reasons', async () => {
      await assert.rejects(
        ben.issues.create({ ...engine, title: '' }),
        (error: { status: number; response: { data: object } }) => {
          assert.equal(error.status, 422)
          assert.partialDeepStrictEqual(error.response.data, {
            errors: [{ resource: 'Issue', field: 'title', code: 'missing_field' }],
          })
          return true
        },
      )
      await assert.rejects(ben.repos.delete(engine), { status: 403 })
      await assert.rejects(ben.repos.get({ owner: 'ada', repo: 'nothing' }), { status: 404 })
      await assert.rejects(new Octokit({ baseUrl, auth: 'wrong' }).users.getAuthenticated(), { status: 401 })
    })

    await story.lacks('GraphQL', /Belfry serves no GraphQL/, () => ada.graphql('{ viewer { login } }'))
    await story.lacks('gists', /^Not Found: Belfry does not serve POST at this address/, () =>
      ada.gists.create({ files: { 'a.txt': { content: 'One' } } }),
    )
    await story.lacks('Actions', /^Not Found: Belfry does not serve GET at this address/, () =>
      ada.actions.listRepoWorkflows(engine),
    )
    await story.lacks('packages', /^Not Found: Belfry does not serve GET at this address/, () =>
      ada.packages.listPackagesForUser({ username: 'ada', package_type: 'npm' }),
    )
    await story.end()
  })
}
